// The report's script: findings to go through and filter, and texts that open where they stand in their list. Every text is set
// as text, never as markup; the data of a response are parsed when it is needed. The address after # says what is open, so Back works.
"use strict";

const parsed = (id) => JSON.parse(document.getElementById(id).textContent);
const byId = (id) => document.getElementById(id);
const INDEX = parsed("index");
const RELATES = { entailment: "speaks for it", contradiction: "speaks against it", neutral: "says nothing about it", equivalence: "says the same" };
const LEANS = { entailment: "leans towards it", contradiction: "leans against it" };  // where a relation was too unsure to count
const GOLD = { supported: "supported", not_supported: "not supported", irrelevant: "irrelevant" };
const LABELS = ["entailment", "neutral", "contradiction"];
const AROUND = 240;      // characters before and after a deciding sentence
const NODES = 8;         // passages, and other claims, in the picture of the graph
let open = { response: null, claim: null, data: null, address: null };
let found = [], at = -1; // claims that the filters leave, as [response, claim], the least likely to be true first; and which of them was gone to

// ---- making elements ------------------------------------------------------------------------------------------------------

const SVG = "http://www.w3.org/2000/svg";
function made(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}
const present = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== "");
const h = (tag, properties, ...children) => made(document.createElement(tag), properties, children);
const s = (tag, properties, ...children) => made(document.createElementNS(SVG, tag), properties, children);

const filled = (element, ...children) => element.replaceChildren(...present(children));
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
// Two decimals, or three where those would stand on the other side of a border between verdicts.
const BORDERS = [0.45, 0.5, 0.55];
const percent = (value) => value.toFixed(BORDERS.some((border) => value !== border && Math.abs(value - border) < 0.005) ? 3 : 2);
const many = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
const verdictOf = (label) => INDEX.verdicts[label];
const weak = (label, posterior) => ["supported", "contradicted"].includes(label) && posterior !== null && INDEX.weak[0] < posterior && posterior < INDEX.weak[1];
const signOf = (label, posterior) => (weak(label, posterior) ? `(${verdictOf(label).sign})` : verdictOf(label).sign);
const sign = (label, posterior) => h("span", { class: `sign v-${label}${weak(label, posterior) ? " weak" : ""}`, "aria-hidden": "true" }, signOf(label, posterior));
const clearly = (label, posterior) => (posterior === null || !["supported", "contradicted"].includes(label) ? "" : weak(label, posterior) ? "weakly " : "clearly ") + verdictOf(label).word;

// ---- findings -----------------------------------------------------------------------------------------------------------------

const rows = INDEX.responses.map((response, number) => {
  const counts = {};
  for (const [, label] of response.claims) counts[label] = (counts[label] || 0) + 1;
  return { number, response, counts, about: plain(`${response.id}\n${response.about}`), claims: response.claims.map((claim) => plain(claim[0])) };
});

// The claims that have what is chosen above; a word may stand in the claim, or in the id or prompt of its text. Texts are left that
// have such a claim, whatever its verdict.
function filtered() {
  const words = plain(byId("search").value).split(/\s+/).filter(Boolean);
  const [verdict, flag, source] = ["verdict", "flag", "source"].map((id) => byId(id).value);
  found = [];
  let texts = 0;
  for (const row of rows) {
    const left = words.filter((word) => !row.about.includes(word));
    let fits = !left.length && !flag && !source;
    row.response.claims.forEach(([, label, , flags, sources], claim) => {
      if (!left.every((word) => row.claims[claim].includes(word)) || (flag && !flags.includes(flag)) || (source && !sources.includes(Number(source)))) return;
      fits = true;
      if (!verdict || label === verdict) found.push([row.number, claim]);
    });
    row.item.hidden = !fits;
    if (fits) texts += 1;
  }
  const likely = ([response, claim]) => rows[response].response.claims[claim][2] ?? 0.5;
  found.sort((a, b) => likely(a) - likely(b));
  at = -1;
  byId("findings-title").textContent = `${many(found.length, `${verdict ? `${verdictOf(verdict).word} ` : ""}claim`)}, the least likely to be true first`;
  byId("found").textContent = words.length || flag || source ? `from ${texts.toLocaleString("en")} of ${many(rows.length, "text")}` : "";
}

function refiltered() {
  filtered();
  byId("cards").replaceChildren();
  showMore();
}

function showMore() {
  const begun = byId("cards").childElementCount;
  byId("cards").append(...found.slice(begun, begun + INDEX.cards).map(card));
  byId("more").hidden = byId("cards").childElementCount >= found.length;
}

const kept = new Map(); // what was parsed for cards

function card([response, claim]) {
  const [text, label, posterior, flags] = rows[response].response.claims[claim];
  if (kept.size > 4 * INDEX.cards) kept.clear();
  if (!kept.has(response)) kept.set(response, parsed(`response-${response}`));
  const data = kept.get(response);
  const said = data.claims[claim].said;
  const page = said && data.passages[said.passage];
  const [from, until] = said?.claimed ?? [0, 0];
  return h("li", { class: `card v-${label}${weak(label, posterior) ? " weak" : ""}` },
    h("p", { class: "how" }, sign(label, posterior), " ", h("b", {}, clearly(label, posterior)), posterior === null ? "" : `: true with probability ${percent(posterior)}`, " ", h("span", { class: "quiet" }, `${rows[response].response.id}, claim ${claim + 1}`, data.claims[claim].gold === null ? "" : `; annotators: ${GOLD[data.claims[claim].gold]}`)),
    h("p", { class: "claim", dir: "auto" }, h("a", { href: `#response=${response + 1}&claim=${claim + 1}` }, marked([[text.slice(0, from), false], [text.slice(from, until), true], [text.slice(until), false]]))),
    page ? h("blockquote", { dir: "auto" }, h("span", { class: "against" }, "The page:"), " ", marked(said.page)) : h("p", { class: "quiet" }, "No passage is recorded."),
    page ? h("p", { class: "where" }, page.title || page.host || (page.links[0] ? "" : "No source is named."), page.links[0] ? [page.title || page.host ? ", " : "", address(page.links[0])] : "") : null,
    flags.map((flag) => h("p", { class: "flag" }, INDEX.flags[flag].meaning)));
}

const marked = (pieces) => pieces.map(([text, differs]) => (differs && text ? h("mark", {}, text) : text));

// To the next or previous finding: in its text where one is open, else on its card.
function step(by) {
  if (!found.length) return;
  const here = found.findIndex(([response, claim]) => response === open.response && claim === open.claim);
  at = Math.min(found.length - 1, Math.max(0, (here >= 0 ? here : at) + by));
  if (open.claim !== null) return go(...found[at]);
  while (byId("cards").childElementCount <= at) showMore();
  const link = byId("cards").children[at].querySelector("a");
  link.focus({ preventScroll: true });
  byId("cards").children[at].scrollIntoView({ block: "center" });
}

// ---- the list of texts --------------------------------------------------------------------------------------------------------

function miniBar(row) {
  let begin = 0;
  const total = row.response.claims.length || 1;
  const parts = Object.keys(INDEX.verdicts).filter((label) => row.counts[label]).map((label) => {
    const width = (1000 * row.counts[label]) / total;
    begin += width;
    return s("rect", { class: `v-${label}`, x: begin - width, y: 0, width, height: 10 });
  });
  return s("svg", { class: "mini", viewBox: "0 0 1000 10", preserveAspectRatio: "none", "aria-hidden": "true" }, parts);
}

function sums(row) {
  const counted = Object.keys(INDEX.verdicts).filter((label) => row.counts[label]).map((label) => `${row.counts[label]} ${verdictOf(label).word}`);
  const precision = row.response.precision === null ? row.response.status : `precision ${percent(row.response.precision)}`;
  const annotated = row.response.annotated === null ? "" : ` (annotators ${percent(row.response.annotated)})`;
  return `${precision}${annotated}; ${counted.join(", ") || "no claims"}`;
}

function listed(row) {
  row.button = h("button", { type: "button", "aria-expanded": "false", onclick: () => go(open.response === row.number ? null : row.number, null) },
    h("span", { class: "id" }, row.response.id), h("span", { class: "about" }, row.response.about), miniBar(row),
    h("span", { class: "sums" }, sums(row)));
  row.item = h("li", {}, row.button);
  return row.item;
}

const ORDERS = {
  input: (a, b) => a.number - b.number,
  precision: (a, b) => (a.response.precision ?? 2) - (b.response.precision ?? 2) || a.number - b.number,
  contradicted: (a, b) => (b.counts.contradicted || 0) - (a.counts.contradicted || 0) || a.number - b.number,
  claims: (a, b) => b.response.claims.length - a.response.claims.length || a.number - b.number,
  without: (a, b) => (a.response.precision !== null) - (b.response.precision !== null) || a.number - b.number,
};

function ordered() {
  byId("list").append(...[...rows].sort(ORDERS[byId("order").value]).map((row) => row.item));
}

// ---- one response -----------------------------------------------------------------------------------------------------------

function go(response, claim) {
  const address = response === null ? "#" : `#response=${response + 1}${claim === null ? "" : `&claim=${claim + 1}`}`;
  history.pushState(null, "", address);
  fromAddress(); // now: the browser tells of the new address only after the keys that are typed next
}

function fromAddress() {
  if (location.hash === open.address) return;
  const named = /^#response=([1-9]\d*)(?:&claim=([1-9]\d*))?$/.exec(location.hash);
  const response = named ? Number(named[1]) - 1 : null;
  if (response === null || !rows[response]) return closed();
  const claim = named[2] && Number(named[2]) <= rows[response].response.claims.length ? Number(named[2]) - 1 : null;
  if (open.response !== response) openResponse(response);
  open.address = location.hash;
  openClaim(claim);
}

function closed() {
  byId("response")?.remove();
  if (open.response !== null) rows[open.response].button.setAttribute("aria-expanded", "false");
  open = { response: null, claim: null, data: null, address: location.hash };
}

function openResponse(number) {
  closed();
  const row = rows[number];
  const data = parsed(`response-${number}`);
  open = { response: number, claim: null, data, address: null };
  row.item.hidden = false;
  row.button.setAttribute("aria-expanded", "true");
  const seconds = Object.entries(data.seconds).map(([stage, value]) => `${stage} ${value.toFixed(1)} s`).join(", ");
  row.item.append(h("article", { id: "response", "aria-label": row.response.id },
    h("p", { class: "quiet" }, Object.entries(data.facts).map(([name, value]) => `${name}: ${value}`).join(" · ")),
    data.error ? h("p", { class: "warnings" }, `Failed: ${data.error}`) : null,
    row.response.status === "abstained" ? h("p", { class: "warnings" }, data.unparsed.length ? "No claim could be read from the extractor's answer. That says nothing about the text." : "No checkable claim was found in this text.") : null,
    h("div", { class: "columns" },
      h("div", {}, markedText(row, data), data.citations ? h("p", { class: "quiet" }, `${data.citations.headline}. A mark in the text opens what its source says.`) : null, clashes(row, data), claimList(row, data), keyFacts(data)),
      h("section", { id: "claim", "aria-label": "The claim that is open", hidden: true })),
    data.notes.length ? h("ul", { class: "warnings" }, data.notes.map((note) => h("li", {}, note))) : null,
    data.unparsed.length ? h("details", {}, h("summary", {}, `${many(data.unparsed.length, "line")} of the model's answer could not be read`), h("ul", {}, data.unparsed.map((line) => h("li", {}, line)))) : null,
    seconds ? h("p", { class: "quiet" }, `Time: ${seconds}.`) : ""));
}

// The text with its claims: a piece is marked in the manner of the first claim that covers it, darker where there are several;
// after a claim's last piece stands its number, a button.
function markedText(row, data) {
  const [label, posterior] = [1, 2].map((field) => (claim) => row.response.claims[claim][field]);
  const faint = (claim) => (weak(label(claim), posterior(claim)) ? " weak" : "");
  return h("div", { class: "text", dir: "auto" }, data.text.map(([text, claims, ends, cited]) => [
    cited
      ? h("button", { type: "button", class: `number v-${cited[1]}`, onclick: () => openCitation(cited[0]), "aria-label": `Citation ${text}: ${cited[2]}` }, text)
      : claims.length
      ? h("mark", { class: `v-${label(claims[claims.length - 1])}${faint(claims[claims.length - 1])}${claims.length > 1 ? " many" : ""}`, "data-claims": ` ${claims.join(" ")} `, onclick: () => go(open.response, nextOf(claims)) }, text)
      : text,
    ends.map((claim) => [h("button", { type: "button", class: `number v-${label(claim)}${faint(claim)}`, "data-claim": claim, onclick: () => go(open.response, claim), "aria-label": `Claim ${claim + 1}, ${clearly(label(claim), posterior(claim))}: ${row.response.claims[claim][0]}` }, `${claim + 1} ${signOf(label(claim), posterior(claim))}`),
      clashesOf(data, claim).map(([other]) => h("button", { type: "button", class: "number clash", onclick: () => go(open.response, other), "aria-label": `Contradicted by claim ${other + 1}` }, `↔ ${other + 1}`))]),
  ]));
}

// The claims that contradict one, each with the contradiction.
const clashesOf = (data, claim) => (data.coherence?.contradictions ?? []).flatMap((one) => {
  const [first, second] = one.sides.map(([number]) => number);
  return claim === first ? [[second, one]] : claim === second ? [[first, one]] : [];
});

// What the claims of a text say of one another, both places linked.
function clashes(row, data) {
  if (!data.coherence) return null;
  const { score, pairs, contradictions } = data.coherence;
  return h("section", { class: "clashes", "aria-label": "Contradictions inside the text" },
    h("h3", {}, `Coherence${score === null ? "" : ` ${percent(score)}`}: ${contradictions.length ? many(contradictions.length, "contradiction") : "no contradiction"} inside the text`),
    h("p", { class: "quiet" }, `${many(pairs, "pair")} of ${many(row.response.claims.length, "claim")} compared with one another.`),
    h("ol", {}, contradictions.map((one) => h("li", {}, `${one.reason} (${percent(one.probability)})`,
      one.sides.map(([claim, said]) => h("p", { dir: "auto" }, h("a", { href: `#response=${row.number + 1}&claim=${claim + 1}` }, `Claim ${claim + 1}`), ": ", marked(said)))))));
}

// What the text says of the key facts of the pages: omitted and contradicted ones are open, each with the sentences that say it.
function keyFacts(data) {
  if (!data.recall) return null;
  return h("section", { class: "facts", "aria-label": "Key facts of the pages" },
    h("h3", {}, data.recall.headline),
    data.recall.groups.map(({ colour, sign, words, facts }, place) => h("details", { open: place === 0 && words !== "said" },
      h("summary", {}, h("span", { class: `sign v-${colour}`, "aria-hidden": "true" }, sign), ` ${many(facts.length, "fact")} ${words}`),
      h("ul", {}, facts.map((fact) => h("li", { dir: "auto" }, fact.text, h("span", { class: "quiet" }, ` weight ${percent(fact.weight)}${fact.hosts > 1 ? `, ${fact.hosts} hosts` : ""}`),
        fact.place === null ? null : h("p", { class: "where" }, `The text: “${fact.place}”`),
        fact.sources.map((source) => h("p", { class: "where" }, `“${source.quote}” `, source.title, source.link ? [source.title ? ", " : "", address(source.link)] : ""))))))));
}

// Of several claims in one place, each click opens the next.
const nextOf = (claims) => claims[(claims.indexOf(open.claim) + 1) % claims.length];

function claimList(row, data) {
  return h("ol", { class: "claims", "aria-label": "Claims" }, row.response.claims.map(([text, label, posterior], claim) =>
    h("li", {}, h("button", { type: "button", "data-claim": claim, onclick: () => go(open.response, claim) },
      h("span", { class: "n" }, claim + 1), sign(label, posterior),
      h("span", { class: "n" }, posterior === null ? "" : percent(posterior)),
      h("span", {}, text, h("span", { class: "quiet" }, ` ${clearly(label, posterior)}${data.claims[claim].placed ? "" : "; not found verbatim in the text"}`))))));
}

// ---- one claim --------------------------------------------------------------------------------------------------------------

function openClaim(claim) {
  const panel = byId("claim");
  for (const marked of document.querySelectorAll("#response .open")) marked.classList.remove("open");
  open.claim = claim;
  panel.hidden = claim === null;
  const row = rows[open.response];
  if (claim === null) return row.button.focus();
  const [text, label, posterior, flags] = row.response.claims[claim];
  const said = open.data.claims[claim];
  for (const piece of document.querySelectorAll(`mark[data-claims*=" ${claim} "], .claims [data-claim="${claim}"]`)) piece.classList.add("open");
  panel.className = `v-${label}`;
  filled(panel,
    h("div", { class: "head" },
      h("h3", { id: "claim-title", tabindex: "-1" }, `Claim ${claim + 1} of ${row.response.claims.length}`),
      h("button", { type: "button", onclick: () => go(open.response, claim - 1), disabled: claim === 0 }, "Previous"),
      h("button", { type: "button", onclick: () => go(open.response, claim + 1), disabled: claim === row.response.claims.length - 1 }, "Next"),
      h("button", { type: "button", onclick: () => go(open.response, null) }, "Close")),
    h("blockquote", { dir: "auto" }, text),
    correctionView(said.correction),
    h("p", { class: "verdict" }, sign(label, posterior), ` ${clearly(label, posterior)}`, posterior === null ? "" : label === "not_enough_evidence" ? `; its probability stays ${percent(posterior)}` : `; probability ${percent(posterior)}, given these passages`),
    h("p", { class: "quiet" }, `That is: ${verdictOf(label).meaning}.`, said.gold === null ? "" : ` The annotators call it ${GOLD[said.gold]}.`),
    flags.map((flag) => h("p", { class: "flag" }, INDEX.flags[flag].meaning)),
    clashesOf(open.data, claim).map(([other, one]) => h("p", { class: "flag" }, "Contradicted inside the text by ", h("a", { href: `#response=${open.response + 1}&claim=${other + 1}` }, `claim ${other + 1}`), `: ${one.reason} (${percent(one.probability)}).`)),
    said.way.length ? h("h4", {}, "How it was decided") : null,
    said.way.map((one) => h("p", {}, one)),
    said.before === null ? null : h("p", { class: "quiet" }, `Labels before any evidence: ${Object.entries(said.before).map(([name, value]) => `${name} ${percent(value)}`).join(", ")}.`),
    h("h4", {}, headingOf(said.passages)),
    said.passages.some((one) => one.sentence) ? h("p", { class: "quiet" }, "Shaded: what was read of a passage. Bold: the sentence in it without which the relation would change most, or that has the claim's value or another in its place, underlined.") : null,
    said.passages.map((counted, place) => passageView(counted, place, open.data.passages[counted.passage])),
    graphPicture(claim, said, label));
  byId("claim-title").focus({ preventScroll: true });
  panel.scrollTop = 0;
  document.querySelector(`#response .text [data-claim="${claim}"]`)?.scrollIntoView({ block: "nearest" });
  panel.scrollIntoView({ block: "nearest" });
}

// What `localfact correct` made of a claim: the old words struck, the new ones, and the sentence that they go by; or why it was left.
function correctionView(made) {
  if (!made) return null;
  if (made.left) return h("p", { class: "quiet" }, `Not corrected. ${made.left}`);
  return h("div", { class: "correction" },
    h("p", {}, "Corrected: ", h("del", {}, made.old), " ", h("ins", {}, made.new), made.after === null ? "" : h("span", { class: "quiet" }, ` true with probability ${percent(made.after)} then`)),
    h("p", { class: "where", dir: "auto" }, `“${made.quote}” ${made.title}`, made.link ? [made.title ? ", " : "", address(made.link)] : ""));
}

// What the sources of a sentence say, in the place of a claim: opened at one of its marks.
function openCitation(number) {
  const panel = byId("claim");
  const sentence = open.data.citations.sentences[number];
  for (const marked of document.querySelectorAll("#response .open")) marked.classList.remove("open");
  open.claim = open.address = null;
  panel.hidden = false;
  panel.className = `v-${sentence.colour}`;
  const told = ([colour, sign, words]) => [h("span", { class: `sign v-${colour}`, "aria-hidden": "true" }, sign), ` It ${words}`];
  filled(panel,
    h("div", { class: "head" },
      h("h3", { id: "claim-title", tabindex: "-1" }, `Cited sentence ${number + 1} of ${open.data.citations.sentences.length}`),
      h("button", { type: "button", onclick: () => go(open.response, null) }, "Close")),
    h("blockquote", { dir: "auto" }, sentence.text),
    h("p", { class: "verdict" }, sentence.told),
    sentence.sources.map((source) => h("div", { class: "passage" },
      h("h4", {}, `${source.mark} `, source.title),
      h("p", { class: "where" }, source.where, source.link ? [source.where ? ", " : "", address(source.link)] : ""),
      h("p", {}, told(source.verdict), source.entailment === null ? "." : `: entailment ${percent(source.entailment)}, contradiction ${percent(source.contradiction)}. ${source.counts}`),
      source.quote === null ? null : h("blockquote", { dir: "auto" }, source.quote))),
    sentence.claims.length ? h("h4", {}, "Of its claims, what it cites") : null,
    sentence.claims.map(([text, colour, sign, words]) => h("p", {}, h("span", { class: `sign v-${colour}`, "aria-hidden": "true" }, sign), ` ${words}: `, text)));
  byId("claim-title").focus({ preventScroll: true });
  panel.scrollTop = 0;
  panel.scrollIntoView({ block: "nearest" });
}

function headingOf(passages) {
  if (!passages.length) return "No passage was used for this verdict";
  return passages.some((one) => one.shift !== null) ? "Evidence, most influential first" : passages.some((one) => one.relation === null) ? "What was read" : "Passages that did not count";
}

function passageView(counted, place, passage) {
  const where = [passage.host, passage.date, passage.from].filter(Boolean).join(", ");
  const [first, ...more] = passage.links;
  return h("div", { class: `passage r-${counted.relation || "neutral"}` },
    h("h4", {}, `Passage ${place + 1}: ${passage.title || passage.host || "without a title"}`),
    h("p", { class: "where" }, where, first ? [where ? ", " : "", address(first)] : "", more.length ? `, and on ${many(more.length, "further page")}` : ""),
    relationLine(counted),
    counted.window ? h("p", { class: "quiet" }, `Of its ${many(passage.text.length, "character")}, ${(counted.window[1] - counted.window[0]).toLocaleString("en")} were read.`) : null,
    counted.without === null ? null : h("p", {}, `Without this passage: ${percent(counted.without[0])}, ${verdictOf(counted.without[1]).word} (it moves the probability by ${counted.shift < 0 ? "−" : "+"}${percent(Math.abs(counted.shift))}).`),
    excerpt(passage.text, counted),
    h("details", {}, h("summary", {}, `The whole passage (${many(passage.text.length, "character")})`), h("div", { class: "whole", dir: "auto" }, withPlaces(passage.text, counted, 0, passage.text.length))));
}

const address = ([link, safe]) => (safe ? h("a", { href: link, rel: "noopener noreferrer nofollow", target: "_blank" }, link) : link);

function relationLine(counted) {
  if (counted.relation === null) return h("p", {}, "Read together with the others.");
  const relates = counted.shift === null && LEANS[counted.relation] ? LEANS[counted.relation] : RELATES[counted.relation];
  const told = h("span", {}, `It ${relates}`, counted.weak ? `, ${counted.weak}` : counted.probability === null ? "" : ` with ${percent(counted.probability)}`);
  if (counted.distribution === null) return h("p", {}, told, ".");
  let begin = 0;
  const parts = counted.distribution.map((probability, label) => {
    begin += 100 * probability;
    return s("rect", { class: `r-${LABELS[label]}`, x: begin - 100 * probability, y: 0, width: 100 * probability, height: 10 });
  });
  return h("p", { class: "distribution" }, told,
    s("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, parts),
    h("span", { class: "quiet" }, counted.distribution.map((probability, label) => `${LABELS[label]} ${percent(probability)}`).join(" · ")),
    counted.raw === null ? null : h("span", { class: "quiet" }, ` Before calibration: ${counted.raw.map((probability, label) => `${LABELS[label]} ${percent(probability)}`).join(" · ")}.`));
}

function excerpt(text, counted) {
  const [begin, end] = counted.sentence || counted.window || [0, Math.min(text.length, 2 * AROUND)];
  const from = begin <= AROUND ? 0 : begin - AROUND + text.slice(begin - AROUND, begin).search(/\s|$/);
  const rest = text.slice(end, end + AROUND);
  const until = end + AROUND >= text.length ? text.length : end + Math.max(0, rest.search(/\s\S*$/));
  return h("div", { class: "excerpt", dir: "auto" }, from > 0 ? "… " : "", withPlaces(text, counted, from, until), until < text.length ? " …" : "");
}

// The text from one place to another, with what the relation model read of it shaded, and the sentence that decided marked.
function withPlaces(text, counted, from, until) {
  const cuts = new Set([from, until]);
  for (const place of [counted.window, counted.sentence, counted.value]) for (const cut of place || []) if (cut > from && cut < until) cuts.add(cut);
  const sorted = [...cuts].sort((a, b) => a - b);
  const within = (place, begin) => place !== null && place[0] <= begin && begin < place[1];
  return sorted.slice(0, -1).map((begin, index) => {
    const part = text.slice(begin, sorted[index + 1]);
    if (within(counted.value, begin)) return h("mark", { class: "decides value" }, part);
    if (within(counted.sentence, begin)) return h("mark", { class: "decides" }, part);
    return within(counted.window, begin) ? h("span", { class: "window" }, part) : part;
  });
}

// The claim, the passages that are related to it, and the other claims that these passages speak to.
function graphPicture(claim, said, label) {
  const same = (end, kind, number) => end[0] === kind && end[1] === number;
  const own = open.data.relations.filter(([a, b]) => same(a, "claim", claim) || same(b, "claim", claim));
  if (!own.length) return null;
  const order = said.passages.map((counted) => counted.passage);
  const near = [...new Set(own.map(([a, b]) => (same(a, "claim", claim) ? b : a)).filter((end) => end[0] === "passage").map((end) => end[1]))];
  near.sort((a, b) => (order.indexOf(a) + 1 || 99) - (order.indexOf(b) + 1 || 99));
  const passages = near.slice(0, NODES);
  const farther = open.data.relations.filter(([a, b]) => a[0] === "passage" && passages.includes(a[1]) && b[0] === "claim" && b[1] !== claim);
  const others = [...new Set(farther.map(([, b]) => b[1]))];
  const claims = others.slice(0, NODES);
  const height = 40 + 46 * Math.max(passages.length, claims.length, 1);
  const row = (index, count) => height / 2 + (index - (count - 1) / 2) * 46;
  const edge = (x1, y1, x2, y2, kind, probability, far) => [
    s("path", { class: `edge r-${kind}${far ? " far" : ""}`, d: `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}` }),
    far ? null : s("text", { x: x2 - 66, y: y2 - 5 }, `${kind === "contradiction" ? "−" : kind === "entailment" ? "+" : "="} ${percent(probability)}`),
  ];
  const node = (x, y, width, text, kind, chosen) => s("g", {},
    s("rect", { class: `node${kind}`, x: x - width / 2, y: y - 14, width, height: 28, rx: 6 }),
    s("text", { x, y: y + 4, "text-anchor": "middle" }, text, chosen ? s("title", {}, chosen) : null));
  const strongest = (index) => own.filter(([a, b]) => same(a, "passage", index) || same(b, "passage", index)).sort((a, b) => b[3] - a[3])[0];
  const described = `Claim ${claim + 1} with ${many(near.length, "passage")} and ${many(others.length, "other claim")} that they speak to`;
  return h("figure", {},
    h("h4", {}, "In the factor graph"),
    s("svg", { class: "graph", viewBox: `0 0 560 ${height}`, role: "img", "aria-label": described },
      passages.map((index, place) => edge(112, height / 2, 218, row(place, passages.length), strongest(index)[2], strongest(index)[3], false)),
      farther.filter(([, b]) => claims.includes(b[1])).map(([a, b, kind, probability]) => edge(342, row(passages.indexOf(a[1]), passages.length), 458, row(claims.indexOf(b[1]), claims.length), kind, probability, true)),
      node(64, height / 2, 96, `claim ${claim + 1} ${verdictOf(label).sign}`, ` own v-${label}`),
      passages.map((index, place) => node(280, row(place, passages.length), 124, nodeName(order.indexOf(index) + 1, open.data.passages[index]), "", open.data.passages[index].title || open.data.passages[index].host)),
      claims.map((index, place) => node(506, row(place, claims.length), 96, `claim ${index + 1} ${verdictOf(rows[open.response].response.claims[index][1]).sign}`, "", rows[open.response].response.claims[index][0]))),
    h("figcaption", { class: "quiet" }, `${described}. Solid lines with + speak for a claim, dashed ones with − against it; faint ones go to other claims, which hang together with this one through the passages that they share.`,
      near.length > NODES || others.length > NODES ? ` Not drawn: ${many(Math.max(0, near.length - NODES), "passage")}, ${many(Math.max(0, others.length - NODES), "claim")}.` : ""));
}

// A passage's number below the claim, and as much of its title as fits.
function nodeName(number, passage) {
  const title = passage.title || passage.host || "a passage";
  return `${number > 0 ? `${number} ` : ""}${title.length > 15 ? `${title.slice(0, 14)}…` : title}`;
}

// ---- beginning --------------------------------------------------------------------------------------------------------------

const options = (id, any, all) => byId(id).append(h("option", { value: "" }, any), ...all.map(([value, text]) => h("option", { value }, text)));

function keyed(event) {
  const typing = event.target.closest("input, select, textarea");
  if (event.altKey || event.ctrlKey || event.metaKey || (typing && event.key !== "Escape")) return;
  if (event.key === "/") { byId("filters").open = true; byId("search").focus(); }
  else if (event.key === "Escape" && typing) { if (typing.value && typing.id === "search") { typing.value = ""; refiltered(); } typing.blur(); }
  else if (event.key === "Escape" && open.response !== null) go(open.claim === null ? null : open.response, null);
  else if (event.key === "n" || event.key === "p") step(event.key === "n" ? 1 : -1);
  else return;
  event.preventDefault();
}

byId("list").append(...rows.map(listed));
const flagged = new Set(INDEX.responses.flatMap((response) => response.claims.flatMap((claim) => claim[3])));
options("verdict", "any", Object.keys(INDEX.verdicts).filter((label) => label === "contradicted" || rows.some((row) => row.counts[label])).map((label) => [label, verdictOf(label).word]));
options("flag", "any or none", [...flagged].map((flag) => [flag, INDEX.flags[flag].word]));
options("source", "any or none", INDEX.sources.map((name, number) => [number, name]).sort((a, b) => a[1].localeCompare(b[1])));
byId("verdict").value = "contradicted";
for (const item of document.querySelectorAll(".legend [data-verdict]")) {
  const chosen = h("button", { type: "button", title: "Show these claims", onclick: () => { byId("verdict").value = item.dataset.verdict; refiltered(); byId("findings").scrollIntoView(); } });
  chosen.append(...item.childNodes);
  item.append(chosen);
}
for (const id of ["filters", "ordering"]) byId(id).hidden = false;
byId("search").addEventListener("input", refiltered);
for (const id of ["verdict", "flag", "source"]) byId(id).addEventListener("change", refiltered);
byId("order").addEventListener("change", ordered);
byId("more").addEventListener("click", showMore);
byId("controls").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", keyed);
window.addEventListener("hashchange", fromAddress);
window.addEventListener("popstate", fromAddress);
window.addEventListener("beforeprint", () => { for (const details of document.querySelectorAll("main details:not(.passage details):not(.call)")) details.open = true; });
filtered();
byId("more").hidden = byId("cards").childElementCount >= found.length;
if (location.hash) fromAddress();
else if (rows.length === 1) openResponse(0);
