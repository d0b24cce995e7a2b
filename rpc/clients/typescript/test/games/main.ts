// SPDX-License-Identifier: MIT
// Plays 60 games in Node or in headless Chromium against a chess node, through a proxy that cuts
// sockets at random.
//
//   node dist/test/games/main.js HOST:PORT KEY GAMES.pgn EXPECTED.csv PAGE.js BROWSER
//
// BROWSER is the path of Chromium; empty: Node.
import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect as connectTo, createServer as createProxy } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { type Plan, type PlannedGame, playGames, type Verdict } from "./play.js";

const [server, key, gamesFile, expectedFile, pageFile, browser] = process.argv.slice(2);
const gameCount = 60;
// A browser lets one socket connect at a time, so many cuts would take it minutes.
const cutCountMax = 600;
const patienceMs = 240_000;

function tokenOf(subject: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { sub: subject, exp: Math.floor(Date.now() / 1000) + 3_600 };
  const signed = `${part({ alg: "HS256" })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", key!).update(signed).digest("base64url")}`;
}

function readGames(place: string): PlannedGame[] {
  const expected = new Map(
    readFileSync(expectedFile!, "utf8")
      .split("\n")
      .map((line) => [line.split(",")[0], line.split(",")]),
  );
  const texts = readFileSync(gamesFile!, "utf8").split("[Event ").slice(1, gameCount + 1);
  return texts.map((text) => {
    const site = /\[Site "(.*?)"\]/.exec(text)![1]!;
    const name = `${place} ${site}`;
    const moves = text.slice(text.lastIndexOf("]") + 1).split(/\s+/);
    return {
      name,
      moves: moves.filter((word) => /^[a-zO]/i.test(word)),
      outcome: expected.get(site)![2]!,
      finalFen: expected.get(site)![3]!,
      tokens: [tokenOf(`${name} white`), tokenOf(`${name} black`)],
    };
  });
}

// Once it cuts, a connection lives for a second, on average, until enough of them were cut.
class Proxy {
  cuts = false;
  cutCount = 0;
  #server = createProxy((client) => {
    const [host, port] = server!.split(":");
    const upstream = connectTo({ host: host!, port: Number(port), noDelay: true });
    client.setNoDelay(true);
    const cut = () => {
      clearInterval(timer);
      client.destroy();
      upstream.destroy();
    };
    const timer = setInterval(() => {
      if (!this.cuts || this.cutCount === cutCountMax || Math.random() < 0.95) return;
      ++this.cutCount;
      cut();
    }, 50);
    for (const end of [client, upstream]) end.on("error", cut).on("close", cut);
    client.pipe(upstream).pipe(client);
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
  }
}

async function playInNode(plan: Plan, proxy: Proxy): Promise<Verdict> {
  const begin = async () => void (proxy.cuts = true);
  return playGames(plan, begin, WebSocket);
}

async function playInBrowser(plan: Plan, proxy: Proxy): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), "corolane-browser-"));
  let process_: ChildProcess | undefined;
  const pages = createServer();
  try {
    return await new Promise<Verdict>((resolve, reject) => {
      setTimeout(() => reject(new Error("the page gives no verdict")), patienceMs).unref();
      pages.on("request", async (request, response) => {
        if (request.url === "/plan") return response.end(JSON.stringify(plan));
        if (request.url === "/page.js") {
          response.setHeader("Content-Type", "text/javascript");
          return response.end(readFileSync(pageFile!));
        }
        let body = "";
        for await (const piece of request) body += piece;
        if (request.url === "/seated") proxy.cuts = true;
        if (request.url === "/verdict") resolve(JSON.parse(body));
        response.setHeader("Content-Type", "text/html");
        return response.end('<!doctype html><script type="module" src="page.js"></script>');
      });
      pages.listen(0, "127.0.0.1", () => {
        const { port } = pages.address() as AddressInfo;
        const options = [
          ...["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
          ...["--no-first-run", "--disable-background-networking", "--disable-extensions"],
          ...["--remote-debugging-port=0", `--user-data-dir=${folder}`],
        ];
        process_ = spawn(browser!, [...options, `http://127.0.0.1:${port}/`], {
          stdio: "ignore",
          detached: true,
        });
        process_.on("error", reject);
        process_.on("exit", () => reject(new Error("the browser has ended")));
      });
    });
  } finally {
    process_?.removeAllListeners("exit");
    const ended = new Promise((resolve) => process_?.once("exit", resolve));
    if (process_?.pid !== undefined) {
      // Its whole group: the other processes of a browser write to the folder for a while.
      process.kill(-process_.pid, "SIGKILL");
      await ended;
    }
    pages.close();
    pages.closeAllConnections();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

const place = browser ? "chromium" : "node";
const proxy = new Proxy();
const plan = { url: await proxy.listen(), games: readGames(place) };
const begun = Date.now();
const verdict = await (browser ? playInBrowser(plan, proxy) : playInNode(plan, proxy));
proxy.close();
console.log(
  `${place} ${verdict.asExpected}/${gameCount} games, ${proxy.cutCount} sockets cut, ` +
    `${verdict.resumeCount} of ${verdict.connectCount} connections resumed, ` +
    `${verdict.lookUpCount} moves looked up, ${verdict.noticeCount} notices, ` +
    `${verdict.newsCount} news, ${verdict.gapCount} gaps, ${((Date.now() - begun) / 1000).toFixed(1)} s`,
);
for (const problem of verdict.problems) console.log(`${place}: ${problem}`);
process.exit(verdict.asExpected === gameCount && verdict.problems.length === 0 ? 0 : 1);
