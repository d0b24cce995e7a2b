# SPDX-License-Identifier: MIT
# The cluster of tools/run --nodes: its etcd and redis, and the spread of objects over its nodes.
# tools/run sources this file, which uses its functions and its arrays of nodes.
# shellcheck shell=bash disable=SC2154

# Enough objects that their spread cannot be uneven by chance.
players_per_node=2000
# The maximum deviation of a node's number of objects from even.
spread_percent_max=20

# Prints a port that is free, and below the range of ports that the kernel assigns.
free_port() {
  local candidate
  while true; do
    candidate=$((20000 + RANDOM % 12000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$candidate") 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

# http_get HOST:PORT PATH: prints the body. Fails when nothing listens there.
http_get() {
  local connection
  { exec {connection}<>"/dev/tcp/${1%:*}/${1##*:}"; } 2>/dev/null || return
  printf 'GET %s HTTP/1.0\r\nHost: %s\r\n\r\n' "$2" "$1" >&"$connection"
  sed '1,/^\r$/d' <&"$connection"
  exec {connection}>&-
}

etcd_is_healthy() { [[ $(http_get "$etcd" /health) == *'"health":"true"'* ]]; }

start_etcd() {
  local peer
  etcd=127.0.0.1:$(free_port)
  peer=http://127.0.0.1:$(free_port)
  start etcd etcd --name=etcd --data-dir="$folder/etcd" \
    --listen-client-urls="http://$etcd" --advertise-client-urls="http://$etcd" \
    --listen-peer-urls="$peer" --initial-advertise-peer-urls="$peer" \
    --initial-cluster="etcd=$peer" --log-level=warn
  wait_for etcd etcd_is_healthy
}

# Redis 7.0 says "ready", later releases "Ready".
redis_is_ready() { grep -qsi 'ready to accept connections' "$folder/redis.out"; }

# No crash loses a write that it has acknowledged.
start_redis() {
  redis=unix:$folder/redis.sock
  start redis redis-server --port 0 --unixsocket "$folder/redis.sock" --dir "$folder" \
    --save '' --appendonly yes --appendfsync always
  wait_for redis redis_is_ready
}

# The nodes share the cores of this machine.
shards_per_node() {
  local cores
  cores=$(nproc)
  echo $((cores > $1 ? cores / $1 : 1))
}

start_cluster() {
  local number
  start_etcd
  start_redis
  head -c 32 /dev/urandom | base64 >"$folder/shared.key"
  for ((number = 1; number <= $1; ++number)); do
    start_node "node-$number" --config config/samples/chess-cluster.yaml \
      --set "node.shards=$(shards_per_node "$1")" \
      --set "node.store.redis.servers=[$redis]" --set "node.cluster.etcd.servers=[$etcd]" \
      --set node.cluster.listen=127.0.0.1:0 \
      --set "node.cluster.shared_key_file=$folder/shared.key"
  done
}

# Prints "NAME PARTITIONS" for each member of the cluster, as one node sees it.
shares_seen_by() {
  http_get "$1" /objects | awk '$1 == "MEMBER" { rows = 1; next }
    rows && $7 == "serving" { print $1, $8 }'
}

objects_of() {
  http_get "$1" /objects | awk '$1 == "TYPE" { rows = 1; next }
    NF == 0 { exit }
    rows { sum += $2 }
    END { print sum + 0 }'
}

# Reads "NAME COUNT" lines and prints them with their deviation from even. Fails when a deviation is
# too large, or when the number of lines is not the number of nodes.
judge_spread() {
  awk -v nodes="${#nodes[@]}" -v limit="$spread_percent_max" '
    { name[NR] = $1; count[NR] = $2; sum += $2 }
    END {
      for (i = 1; i <= NR; ++i) {
        percent = sum ? 100 * (count[i] * nodes / sum - 1) : 0
        printf "  %-28s %d (%+.1f %%)\n", name[i], count[i], percent
        if (percent > limit || percent < -limit) far = 1
      }
      exit !(NR == nodes && sum > 0 && !far)
    }'
}

all_see_an_even_spread() {
  local admin
  for admin in "${admins[@]}"; do
    shares_seen_by "$admin" | judge_spread >/dev/null || return
  done
}

wait_until_spread() { wait_for "${nodes[0]}" all_see_an_even_spread; }

print_spread() {
  local i
  echo "objects by node, and their deviation from even"
  for i in "${!nodes[@]}"; do
    echo "${nodes[i]} $(objects_of "${admins[i]}")"
  done | judge_spread ||
    { echo "tools/run: objects deviate more than $spread_percent_max % from even" >&2; return 1; }
  echo "objects are spread within $spread_percent_max % of even"
}
