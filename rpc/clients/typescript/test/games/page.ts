// SPDX-License-Identifier: MIT
// The same in a page, which posts its verdict to where it comes from.
import { playGames } from "./play.js";

const post = async (name: string, body: unknown) =>
  void (await fetch(name, { method: "POST", body: JSON.stringify(body) }));

try {
  const plan = await (await fetch("plan")).json();
  await post("verdict", await playGames(plan, () => post("seated", {})));
} catch (error) {
  await post("verdict", { problems: [String(error)] });
}
