// The page for players: it logs in, shows a guild live, and donates to it.
import { connect, ConnectError, createClient, isFromHandler, loadTypes } from "./lib/corolane.js";

// What guild.proto and guilds.proto declare; the build writes this file.
const types = await loadTypes("lib/types.binpb");
const Guild = types.getService("my_game.Guild");
const Guilds = types.getService("my_game.Guilds");
const LookReply = types.getMessage("my_game.LookReply");

const element = (id) => document.getElementById(id);
const say = (error) => (element("error").textContent = ConnectError.from(error).rawMessage);

// The session with the server, over one WebSocket after the other.
let connection;
// Ends what is shown now: the player has gone to another guild, or has logged out.
let visit = new AbortController();

// In development the token is the name: see login.h. Later, `token` is a function that asks your
// login service for one; it is called for each connection.
function logIn(player) {
  connection = connect({ url: location.origin.replace(/^http/, "ws"), token: player });
  connection.onState(showState);
  sessionStorage.setItem("player", player);
  element("me").textContent = player;
  showState(connection.state);
  showMain("game");
  enterGuild();
}

function logOut() {
  sessionStorage.removeItem("player");
  connection.close();
}

function showState(state) {
  const line = element("state");
  // While the server is away attempts come and go: the player is told once.
  if (state.is === "connecting" && line.dataset.is === "waiting") return;
  const words = { connecting: "Connecting", open: "Live", waiting: "Offline, trying again" };
  line.textContent = words[state.is] ?? "";
  line.dataset.is = state.is;
  if (state.is !== "ended") return;
  // The player has logged out, or else the server says why it does not want the session.
  visit.abort();
  element("refusal").textContent = state.reason?.rawMessage ?? "";
  showMain("welcome");
}

function showMain(id) {
  for (const main of document.querySelectorAll("main")) main.hidden = main.id !== id;
  if (id === "welcome") element("player").focus();
}

// The address of the page names the guild: #lions.
function guildName() {
  try {
    return decodeURIComponent(location.hash.slice(1)) || "lions";
  } catch {
    return "lions";
  }
}

function enterGuild() {
  visit.abort();
  visit = new AbortController();
  const name = guildName();
  for (const link of document.querySelectorAll("nav a")) {
    if (link.textContent === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  element("guild").textContent = name;
  element("gold").textContent = "…";
  element("error").textContent = "";
  element("latest").replaceChildren();
  follow(name, visit.signal);
}

// Shows the guild as it is, and then each change, until the signal. When the session is a new one,
// after a crash of the node for example, it begins anew.
async function follow(name, signal) {
  const guilds = createClient(Guilds, connection);
  const guild = createClient(Guild, connection.object(name));
  while (!signal.aborted) {
    try {
      // Not given up with the visit: the loop below leaves the group.
      const followed = await guilds.follow({ guild: name });
      if (!signal.aborted) show(followed.state);
      for await (const news of connection.follow(LookReply, followed, { signal })) {
        // At a gap the page has missed something, so it looks at the whole guild.
        show(news.isGap ? await guild.look({}, { signal }) : news.message);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isFromHandler(error)) return say(error);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    await whenOpen(signal);
  }
}

// Resolves when calls can be sent, or at the signal.
function whenOpen(signal) {
  return new Promise((resolve) => {
    const check = () => {
      if (connection.state.is !== "open" && !signal.aborted) return;
      stop();
      resolve();
    };
    const stop = connection.onState(check);
    signal.addEventListener("abort", check, { once: true });
    check();
  });
}

function show({ gold, latest }) {
  element("gold").textContent = gold.toLocaleString();
  const list = element("latest");
  const lastShown = BigInt(list.firstElementChild?.dataset.number ?? 0);
  for (const { number, player, gold } of latest) {
    if (number <= lastShown) continue;
    const line = document.createElement("li");
    const who = document.createElement("b");
    who.textContent = player || "Somebody";
    line.append(who, ` ${gold.toLocaleString()} gold`);
    line.dataset.number = number;
    if (lastShown > 0n) line.className = "new";
    list.prepend(line);
  }
  while (list.childElementCount > 10) list.lastElementChild.remove();
}

// Donate is durable: the reply comes when the gold is stored. When the connection breaks meanwhile
// the client makes the call again, and it counts once.
async function donate() {
  element("error").textContent = "";
  const guild = createClient(Guild, connection.object(element("guild").textContent));
  try {
    await guild.donate({ gold: BigInt(element("amount").value) });
  } catch (error) {
    say(error);
  }
}

function onSubmit(form, action) {
  element(form).addEventListener("submit", (event) => (event.preventDefault(), action()));
}

onSubmit("login", () => logIn(element("player").value.trim()));
onSubmit("donate", donate);
element("leave").addEventListener("click", logOut);
addEventListener("hashchange", () => element("game").hidden || enterGuild());

// A page that is loaded again is still logged in.
const player = sessionStorage.getItem("player");
if (player) logIn(player);
else showMain("welcome");
