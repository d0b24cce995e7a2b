# SPDX-License-Identifier: MIT
"""Reads the JSON of OTLP as strictly as its schema is published (opentelemetry-proto 1.x): unknown
fields, wrong types, numbers out of range and ids of the wrong length are errors. A field that the
schema has and corolane never sends is unknown here, too.
"""

import re

UINT64_MAX = 2**64 - 1
INT64_MAX = 2**63 - 1


class Invalid(Exception):
    """The request breaks the schema."""


def _fail(path, message):
    raise Invalid(f"{path}: {message}")


def text(path, value):
    if not isinstance(value, str):
        _fail(path, "is no string")


def boolean(path, value):
    if not isinstance(value, bool):
        _fail(path, "is no boolean")


def number(path, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        if value not in ("NaN", "Infinity", "-Infinity"):
            _fail(path, f"is no number: {value!r}")


def whole(lowest, highest):
    """A number of 32 bits, or an enum."""

    def check(path, value):
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            _fail(path, f"is no whole number from {lowest} to {highest}: {value!r}")

    return check


def whole64(lowest, highest):
    """A number of 64 bits: a string of decimal digits."""

    def check(path, value):
        if not isinstance(value, str) or not re.fullmatch(r"-?\d{1,20}", value):
            _fail(path, f"is no string of digits: {value!r}")
        if not lowest <= int(value) <= highest:
            _fail(path, f"is out of range: {value}")

    return check


def hexadecimal(digits):
    def check(path, value):
        if not isinstance(value, str) or not re.fullmatch(f"[0-9a-f]{{{digits}}}", value):
            _fail(path, f"is no id of {digits} digits: {value!r}")
        if not value.strip("0"):
            _fail(path, "is an id of zeros")

    return check


def a_list(of):
    def check(path, value):
        if not isinstance(value, list):
            _fail(path, "is no list")
        for index, item in enumerate(value):
            of(f"{path}[{index}]", item)

    return check


def message(fields, needs=(), one_of=()):
    """Of the fields in `one_of` exactly one is there."""

    def check(path, value):
        if not isinstance(value, dict):
            _fail(path, "is no object")
        for name, item in value.items():
            if name not in fields:
                _fail(path, f"has an unknown field {name}")
            fields[name](f"{path}.{name}", item)
        for name in needs:
            if name not in value:
                _fail(path, f"lacks {name}")
        if one_of and sum(name in value for name in one_of) != 1:
            _fail(path, f"has not exactly one of {', '.join(one_of)}")

    return check


def unique_keys(check):
    def checked(path, value):
        check(path, value)
        keys = [attribute["key"] for attribute in value]
        if len(keys) != len(set(keys)):
            _fail(path, "has a key twice")

    return checked


fixed64 = whole64(0, UINT64_MAX)
int64 = whole64(-INT64_MAX - 1, INT64_MAX)
uint32 = whole(0, 2**32 - 1)
VALUES = {"stringValue": text, "boolValue": boolean, "intValue": int64, "doubleValue": number}
any_value = message(VALUES, one_of=tuple(VALUES))
key_value = message({"key": text, "value": any_value}, needs=("key", "value"))
attributes = unique_keys(a_list(key_value))
resource = message({"attributes": attributes}, needs=("attributes",))
scope = message({"name": text}, needs=("name",))
trace_id = hexadecimal(32)
span_id = hexadecimal(16)


def envelope(name, inner, items, item):
    """The layers that all signals have around what they consist of."""
    layer = message({"scope": scope, items: a_list(item)}, needs=("scope", items))
    return message(
        {name: a_list(message({"resource": resource, inner: a_list(layer)}, needs=("resource",)))},
        needs=(name,),
    )


event = message(
    {"timeUnixNano": fixed64, "name": text, "attributes": attributes},
    needs=("timeUnixNano", "name"),
)
link = message(
    {"traceId": trace_id, "spanId": span_id, "attributes": attributes}, needs=("traceId", "spanId")
)
span = message(
    {
        "traceId": trace_id,
        "spanId": span_id,
        "parentSpanId": span_id,
        "name": text,
        "kind": whole(1, 5),
        "startTimeUnixNano": fixed64,
        "endTimeUnixNano": fixed64,
        "attributes": attributes,
        "droppedAttributesCount": uint32,
        "events": a_list(event),
        "droppedEventsCount": uint32,
        "links": a_list(link),
        "status": message({"code": whole(0, 2), "message": text}),
    },
    needs=("traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"),
)

exemplar = message(
    {"timeUnixNano": fixed64, "asDouble": number, "spanId": span_id, "traceId": trace_id},
    needs=("timeUnixNano", "asDouble"),
)
number_point = message(
    {
        "attributes": attributes,
        "startTimeUnixNano": fixed64,
        "timeUnixNano": fixed64,
        "asDouble": number,
    },
    needs=("timeUnixNano", "asDouble"),
)


def histogram_point(path, value):
    message(
        {
            "attributes": attributes,
            "startTimeUnixNano": fixed64,
            "timeUnixNano": fixed64,
            "count": fixed64,
            "sum": number,
            "bucketCounts": a_list(fixed64),
            "explicitBounds": a_list(number),
            "exemplars": a_list(exemplar),
        },
        needs=("startTimeUnixNano", "timeUnixNano", "count", "bucketCounts", "explicitBounds"),
    )(path, value)
    counts = [int(count) for count in value["bucketCounts"]]
    bounds = value["explicitBounds"]
    if len(counts) != len(bounds) + 1 or sorted(set(bounds)) != bounds:
        _fail(path, "has bounds that do not fit its buckets, or do not rise")
    if sum(counts) != int(value["count"]):
        _fail(path, "has buckets that do not add up to its count")


CUMULATIVE = whole(2, 2)
KINDS = {
    "gauge": message({"dataPoints": a_list(number_point)}, needs=("dataPoints",)),
    "sum": message(
        {
            "dataPoints": a_list(number_point),
            "aggregationTemporality": CUMULATIVE,
            "isMonotonic": boolean,
        },
        needs=("dataPoints", "aggregationTemporality", "isMonotonic"),
    ),
    "histogram": message(
        {"dataPoints": a_list(histogram_point), "aggregationTemporality": CUMULATIVE},
        needs=("dataPoints", "aggregationTemporality"),
    ),
}
metric = message(
    {"name": text, "description": text, "unit": text, **KINDS}, needs=("name",), one_of=tuple(KINDS)
)

log_record = message(
    {
        "timeUnixNano": fixed64,
        "observedTimeUnixNano": fixed64,
        "severityNumber": whole(1, 24),
        "severityText": text,
        "body": any_value,
        "attributes": attributes,
        "flags": uint32,
        "traceId": trace_id,
        "spanId": span_id,
    },
    needs=("timeUnixNano", "observedTimeUnixNano", "severityNumber", "body"),
)

REQUESTS = {
    "/v1/traces": envelope("resourceSpans", "scopeSpans", "spans", span),
    "/v1/metrics": envelope("resourceMetrics", "scopeMetrics", "metrics", metric),
    "/v1/logs": envelope("resourceLogs", "scopeLogs", "logRecords", log_record),
}


def check_request(path, body):
    """Raises Invalid unless `body` is a request to `path`."""
    if path not in REQUESTS:
        _fail(path, "is no path of OTLP")
    REQUESTS[path]("", body)


def items(path, body):
    """The spans, metrics or log records of a request, each with the attributes of its resource."""
    outer, inner, name = {
        "/v1/traces": ("resourceSpans", "scopeSpans", "spans"),
        "/v1/metrics": ("resourceMetrics", "scopeMetrics", "metrics"),
        "/v1/logs": ("resourceLogs", "scopeLogs", "logRecords"),
    }[path]
    for part in body[outer]:
        named = {a["key"]: a["value"].get("stringValue") for a in part["resource"]["attributes"]}
        for layer in part[inner]:
            for item in layer[name]:
                yield named, item
