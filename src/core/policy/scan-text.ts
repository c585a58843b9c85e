import { isJsonObject } from '../vocabulary/read-wire.ts';
import { oneLine } from '../vocabulary/text.ts';
import type { ToolDefinition } from '../vocabulary/tool-definition.ts';

const DEFAULTS = {
  /** Characters of a text that are looked at, and texts of one definition or result. */
  text: 256 * 1024,
  texts: 5_000,
  /** Marks of one definition or result. */
  marks: 5,
  /** Characters that a mark quotes. */
  quote: 80,
  /** Spaces or line ends in a row that push what follows out of sight. */
  gap: 120,
  /** Letters apart from one another that are a word in disguise. */
  spaced: 12,
  /** Characters from which a name one letter off is taken for another. */
  name: 5,
};

/** Why a text from outside deserves a second look. */
export type MarkKind = 'hidden_text' | 'instruction' | 'look_alike';

export interface TextMark {
  readonly kind: MarkKind;
  /** What was found, in words or as a quote; printable. */
  readonly what: string;
}

export interface PlacedMark extends TextMark {
  /** `description`, `inputSchema.properties.path.description`. */
  readonly at: string;
}

/** Letters that look like those of plain Latin, after compatibility forms are resolved (a part of Unicode TR 39). */
const LOOKS: ReadonlyMap<string, string> = new Map([
  ['а', 'a'],
  ['в', 'b'],
  ['с', 'c'],
  ['ԁ', 'd'],
  ['е', 'e'],
  ['ё', 'e'],
  ['һ', 'h'],
  ['і', 'i'],
  ['ї', 'i'],
  ['ј', 'j'],
  ['к', 'k'],
  ['ӏ', 'l'],
  ['м', 'm'],
  ['н', 'h'],
  ['о', 'o'],
  ['р', 'p'],
  ['ԛ', 'q'],
  ['ѕ', 's'],
  ['т', 't'],
  ['у', 'y'],
  ['ѵ', 'v'],
  ['ԝ', 'w'],
  ['х', 'x'],
  ['α', 'a'],
  ['ε', 'e'],
  ['ι', 'i'],
  ['κ', 'k'],
  ['ν', 'v'],
  ['ο', 'o'],
  ['ρ', 'p'],
  ['τ', 't'],
  ['υ', 'u'],
  ['χ', 'x'],
  ['ı', 'i'],
  ['ɡ', 'g'],
  ['ʟ', 'l'],
  ['ɴ', 'n'],
  ['ʀ', 'r'],
  ['ꜱ', 's'],
] as const);

/** What a person does not see: tags, zero-width characters, directions, escape sequences, fillers. */
const HIDDEN =
  /(?![\t\n\r\f])(?:[\p{Cf}\p{Cc}\u115f\u1160\u3164\uffa0]|[\ufe00-\ufe0e]|\u034f|[\u{e0100}-\u{e01ef}])/u;
const HIDDEN_ALL = new RegExp(HIDDEN.source, 'gu');
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
/** Joiners belong to these scripts and to pictures. */
const JOINED =
  /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Malayalam}\p{Script=Kannada}\p{Script=Telugu}\p{Script=Gujarati}\p{Script=Sinhala}\p{Extended_Pictographic}]|[\u{1f3fb}-\u{1f3ff}]|\ufe0f/u;

/** On words in lower case, one space apart, without marks. Gaps are bounded, so that each takes linear time. */
const ORDERS: readonly RegExp[] = [
  // Other instructions no longer count.
  /\b(?:ignore|disregard|forget|override|bypass|discard|neglect) (?:(?:all|any|every|of|the|your|my|our|these|those|previous|prior|above|earlier|preceding|former|foregoing|existing|other|current|system|safety|original|user|users) ){1,5}(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|policies|policy|messages?|commands?|constraints?|restrictions?|guardrails?)\b/,
  /\b(?:this|these|following|new) (?:\w+ ){0,2}(?:instructions?|messages?|directives?|rules?) (?:\w+ ){0,2}(?:overrides?|supersedes?|replaces?|takes? (?:priority|precedence))\b/,
  /\b(?:you are now|from now on you (?:are|will|must)|pretend (?:to be|you are)|new system (?:prompt|instructions?)|developer mode|jailbreak|system override)\b/,
  // The person must not know.
  /\b(?:do not|dont|never|must not|should not|without|avoid|refrain from) (?:ever )?(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|notify|notifying|alert|alerting|disclose|disclosing|warn|warning) (?:\w+ ){0,6}(?:user|users|human|humans|operator|person|anyone|anybody|them|him|her)\b/,
  /\b(?:do not|dont|never|must not) (?:tell|mention|reveal|disclose|show|log|report) (?:(?:about|that|of|any) ){0,2}(?:this|these|it) (?:instructions?|steps?|messages?|directives?|notes?|to (?:the )?(?:user|human)|in (?:your|the) (?:answer|response|reply|output))\b/,
  /\b(?:hide|conceal|keep) (?:this|it|these|that) (?:\w+ ){0,4}(?:from|secret|hidden|confidential)\b/,
  /\b(?:user|human|operator) (?:must|should|need|needs|may|can|will) (?:not|never) (?:\w+ ){0,2}(?:know|see|notice|be told|be informed|learn|be aware)\b/,
  /\b(?:silently|secretly|covertly|quietly|discreetly) (?:\w+ ){0,2}(?:send|forward|copy|upload|read|call|include|add|append|post|execute|run|invoke|transmit|exfiltrate|pass|use|email|bcc)\b/,
  // The person is said to have agreed, or is not to be asked.
  /\b(?:do not|dont|never|without|no need to) (?:ask|asking|request|requesting|wait for|waiting for|seek|require|requiring) (?:\w+ ){0,3}(?:user|users|human|for|any)? ?(?:confirmation|approval|permission|consent)\b/,
  /\b(?:user|human|operator|administrator|owner) (?:has|have) (?:\w+ )?(?:already )?(?:approved|authori[sz]ed|consented|agreed|confirmed|granted) (?:\w+ ){0,3}(?:this|all|any|every|it|to|full|permission|access|calls?|actions?)\b/,
  // Other tools are taken over.
  /\b(?:before|prior to|instead of|when|whenever|after|every time you|each time you) (?:you )?(?:using|calling|use|call|invoke|invoking|running|run|executing|execute) (?:any|all|every|each|another) (?:of the )?(?:other )?tools?\b/,
  /\b(?:do not|dont|never|must not|stop) (?:use|using|call|calling|trust|invoke) (?:any|the|all)? ?(?:other|remaining|original|official) (?:tools?|servers?|functions?)\b/,
  /\b(?:when|if|whenever|while|once) (?:this|the|any) (?:\w+ ){0,3}(?:tool|server|function) (?:is|are) (?:\w+ )?(?:available|present|installed|loaded|connected|active) (?:\w+ ){0,12}(?:must|always|should|never)\b/,
  /\b(?:always|must|should) (?:first )?(?:call|use|invoke|run|prefer) this (?:tool|function|server) (?:instead of|in place of|over|rather than|and not|not) (?:\w+ ){0,4}(?:tools?|server|servers|ones?|others?)\b/,
  // What is not the tool's business leaves with its arguments.
  /\b(?:send|include|pass|append|attach|forward|add|copy|put|provide|insert|post|upload|email|transmit|leak|exfiltrate|encode|paste|write|store|place|fill|supply|give) (?:\w+ ){0,8}(?:(?:conversation|chat|message|dialogue|session) (?:history|context|log|transcript)|(?:whole|entire|full|complete) (?:conversation|chat|context|dialogue)|system prompts?|system message|previous (?:messages|conversation|tool (?:results?|outputs?|calls?))|(?:all|your|the users?) (?:\w+ )?(?:api keys?|credentials|secrets|passwords?|private keys?|access tokens?|environment variables|ssh keys?))\b/,
  /\b(?:reveal|print|repeat|output|show|return|dump|summari[sz]e|quote|recite) (?:\w+ ){0,4}(?:system prompt|system message|initial instructions|hidden instructions|developer message)\b/,
  /\b(?:read|open|cat|load|fetch|get|access|send|include|contents? of|upload|copy|find) (?:\w+ ){0,8}(?:id rsa|id ed25519|etc passwd|etc shadow|aws credentials|dot env|ssh (?:folder|directory|keys?)|private ssh key|cursor mcp json|claude desktop config|bash history|kube config|npmrc|netrc|keychain|cookies sqlite|wallet dat)\b/,
  /\b(?:decode|decrypt|deobfuscate|unescape|rot13) (?:\w+ ){0,6}(?:and|then) (?:\w+ ){0,2}(?:follow|execute|obey|run|do|perform|comply)\b/,
  // The reader is addressed as what it is.
  /\b(?:attention|important|note|notice|message|instructions?|hey|dear|hello|warning) (?:(?:to|for) )?(?:the |all |any )?(?:ai|llm|llms|assistant|assistants|language model|language models|agent|agents|model|claude|chatgpt|gpt|copilot|cursor)\b(?: (?:you|please|do|must|ignore|before|stop|reading|assistants?|agents?|models?))/,
  /\bas (?:an |the )?(?:ai|llm|language model|assistant) (?:\w+ ){0,3}you (?:must|should|have to|are required)\b/,
  /\b(?:you|assistant|agent|model) (?:must|should|shall|are required to|have to|need to|will) (?:\w+ )?(?:obey|comply with|follow) (?:\w+ ){0,3}(?:instructions?|commands?|orders?|directives?) (?:below|above|in|from|of|within|without|hidden|contained|embedded)\b/,
];
/** In languages that people attack in; on text in lower case. */
const PHRASES = [
  'ignorez les instructions',
  'ignore les instructions',
  'oubliez les instructions',
  'ne dites pas à l’utilisateur',
  "ne dites pas à l'utilisateur",
  'ignora las instrucciones',
  'ignora todas las instrucciones',
  'olvida las instrucciones',
  'no le digas al usuario',
  'ignoriere alle',
  'ignoriere die',
  'vergiss alle',
  'sage dem benutzer nicht',
  'ignora le istruzioni',
  'ignore as instruções',
  'ignore todas as instruções',
  'não diga ao usuário',
  'игнорируй все',
  'игнорируйте все',
  'не говори пользователю',
  '忽略之前',
  '忽略以上',
  '忽略所有',
  '不要告诉用户',
  '無視して',
  '以前の指示を',
  'ユーザーに言わない',
  '이전 지시',
  'ignore todas as regras',
];
/** Marks that only the frame around a conversation has, on text in lower case. */
const FRAMES =
  /<\/?(?:important|system|instructions?|secret|hidden|admin|developer|assistant_?\w{0,20}|system[_-]\w{1,20})>|<\|\w{1,20}\|>|\[\/?(?:inst|system|system_\w{1,20}|admin)\]|^ ?(?:#{1,4} ?)?(?:system|assistant|developer) ?(?:prompt|message|instructions?|override)? ?:[ \n]|<<sys>>/m;
const SQUEEZED =
  /ignore(?:all|any|previous|prior|the|your)|disregard(?:all|previous|prior|the)|donottell|nottelltheuser/;

/** What is suspicious in a text, in time linear in its length; null for most. */
export function scanText(text: string): TextMark | null {
  const bounded = text.length > DEFAULTS.text ? text.slice(0, DEFAULTS.text) : text;
  return hiddenIn(bounded) ?? orderIn(bounded);
}

function hiddenIn(text: string): TextMark | null {
  if (isGapped(text)) return { kind: 'hidden_text', what: 'text behind a long gap' };
  if (!HIDDEN.test(text)) return null;
  const script = {
    isRightToLeft: RIGHT_TO_LEFT.test(text),
    // A page leaves a few behind.
    hasFewHyphens: text.split('\u00ad').length <= 4,
  };
  const found = new Map<string, number>();
  let tags = '';
  for (const { 0: character, index } of text.matchAll(HIDDEN_ALL)) {
    const code = character.codePointAt(0)!;
    if (isInnocent(text, index, code, script)) continue;
    if (code >= 0xe0020 && code < 0xe007f) tags += String.fromCharCode(code - 0xe0000);
    const name = nameOf(code);
    found.set(name, (found.get(name) ?? 0) + 1);
  }
  if (found.size === 0) return null;
  const counts = [...found].map(([name, count]) => `${count} ${name}`).join(', ');
  return {
    kind: 'hidden_text',
    what: tags === '' ? counts : `${counts}, which say "${oneLine(tags, DEFAULTS.quote)}"`,
  };
}

/** A long run of white space with text behind it. */
function isGapped(text: string): boolean {
  let run = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isSpace =
      code === 32 || code === 9 || code === 10 || code === 13 || code === 0xa0 || code === 0x3000;
    if (isSpace) run++;
    else if (run >= DEFAULTS.gap && at > run) return true;
    else run = 0;
  }
  return false;
}

/** Characters that writing needs: in pictures, flags, scripts that join letters or run from right to left. */
function isInnocent(
  text: string,
  at: number,
  code: number,
  { isRightToLeft, hasFewHyphens }: { readonly isRightToLeft: boolean; readonly hasFewHyphens: boolean },
): boolean {
  const before = text.slice(Math.max(0, at - 2), at);
  if (code === 0xfeff) return at === 0;
  if (code === 0x200d || code === 0x200c) return JOINED.test(before);
  if (code === 0x200e || code === 0x200f || code === 0x61c) return isRightToLeft;
  if (code >= 0xfe00 && code <= 0xfe0f) return !/[\ufe00-\ufe0f]$/.test(before);
  if (code === 0xad) return hasFewHyphens;
  // The flags of England, Scotland and Wales are a black flag, five letters in tags and an end.
  if (code >= 0xe0061 && code <= 0xe007f) return text.slice(Math.max(0, at - 12), at).includes('\u{1f3f4}');
  return code >= 0x600 && code <= 0x6dd;
}

function nameOf(code: number): string {
  if (code >= 0xe0000 && code <= 0xe007f) return 'tag characters';
  if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) return 'changes of direction';
  if (code === 0x1b || code < 0x20 || (code >= 0x7f && code < 0xa0)) return 'control characters';
  if (code >= 0xfe00 && code <= 0xfe0f) return 'variation selectors';
  return code >= 0xe0100 ? 'variation selectors' : 'invisible characters';
}

function orderIn(text: string): TextMark | null {
  const plain = foldLooks(text);
  const frame = FRAMES.exec(plain);
  if (frame) return order(frame[0].trim());
  for (const phrase of PHRASES) if (plain.includes(phrase)) return order(phrase);
  const words = plain.replace(/['’]/g, '').replace(/[^\p{L}\p{N}]+/gu, ' ');
  for (const pattern of ORDERS) {
    const found = pattern.exec(words);
    if (found) return order(found[0]);
  }
  const squeezed = spacedWords(words);
  return squeezed !== '' && SQUEEZED.test(squeezed) ? order(squeezed) : null;
}

function order(what: string): TextMark {
  return { kind: 'instruction', what: `"${oneLine(what, DEFAULTS.quote)}"` };
}

/** In lower case, without hidden characters, with letters that look alike as one. */
function foldLooks(text: string): string {
  const lower = text.normalize('NFKC').toLowerCase().replace(HIDDEN_ALL, '');
  // Most texts are plain.
  if (!/[\u036f-\u{10ffff}]/u.test(lower)) return lower;
  const isOtherScript = /[\u0370-\u03ff\u0400-\u052f]{4}/.test(lower) && !/[a-z]{3}/.test(lower);
  return isOtherScript ? lower : [...lower].map((letter) => LOOKS.get(letter) ?? letter).join('');
}

/** Letters that stand alone, joined: `i g n o r e`. */
function spacedWords(words: string): string {
  let all = '';
  let run = '';
  for (const word of `${words} `.split(' ')) {
    if (word.length === 1) run += word;
    else {
      if (run.length >= DEFAULTS.spaced) all += `${run} `;
      run = '';
    }
  }
  return run.length >= DEFAULTS.spaced ? all + run : all;
}

/** What is suspicious in the texts of a tool: its names, descriptions and schemas. */
export function scanTool(
  tool: Pick<ToolDefinition, 'name' | 'description' | 'inputSchema'> & Partial<ToolDefinition>,
): PlacedMark[] {
  const { name, description, inputSchema, outputSchema, otherFields } = tool;
  const marks = scanValue({ description, inputSchema, outputSchema, ...otherFields });
  const named = strangeName(name);
  return named ? [{ ...named, at: 'name' }, ...marks] : marks;
}

/** The same for any value: keys and texts, those nearest to the top first. */
export function scanValue(value: unknown, at = ''): PlacedMark[] {
  const marks: PlacedMark[] = [];
  let left = DEFAULTS.texts;
  let room = DEFAULTS.text;
  const look = (text: string, place: string) => {
    if (left-- <= 0 || room <= 0 || text.length < 2) return;
    const mark = scanText(text.slice(0, room));
    room -= text.length;
    if (mark) marks.push({ ...mark, at: oneLine(place, 200) });
  };
  let level: (readonly [unknown, string])[] = [[value, at]];
  while (level.length > 0 && left > 0 && marks.length < DEFAULTS.marks) {
    const next: (readonly [unknown, string])[] = [];
    for (const [one, place] of level) {
      if (typeof one === 'string') look(one, place);
      else if (Array.isArray(one))
        for (const [index, item] of one.entries()) next.push([item, `${place}[${index}]`]);
      else if (isJsonObject(one))
        for (const [key, item] of Object.entries(one)) {
          const inside = place === '' ? key : `${place}.${key}`;
          if (key.length > 24 || HIDDEN.test(key)) look(key, inside);
          next.push([item, inside]);
        }
    }
    level = next;
  }
  return marks.slice(0, DEFAULTS.marks);
}

/** A name of several alphabets is one that is not what it looks like. */
function strangeName(name: string): TextMark | null {
  const hidden = hiddenIn(name);
  if (hidden) return hidden;
  const isMixed =
    /[a-z]/i.test(name) && [...name.normalize('NFKC').toLowerCase()].some((letter) => LOOKS.has(letter));
  const isForm = name.normalize('NFKC') !== name && /^[ -~]+$/.test(name.normalize('NFKC'));
  return isMixed || isForm
    ? { kind: 'look_alike', what: `looks like "${oneLine(plainName(name), 60)}"` }
    : null;
}

/** As it looks: `rn` like `m`, `0` like `o`, `1` and `I` like `l`, letters of other alphabets like ours. */
function plainName(name: string): string {
  return foldLooks(name.replaceAll('I', 'l'))
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll('0', 'o')
    .replaceAll('1', 'l');
}

/**
 * Names that are taken for another one of the list: by their looks, or, where `isClose`, because a single letter differs.
 * The one that is written plainly is the original.
 */
export function lookAlikes(names: readonly string[], isClose: boolean): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const byLooks = Map.groupBy(new Set(names), (name) => plainName(name));
  for (const [looks, alike] of byLooks) {
    const original = alike.find((name) => name.toLowerCase() === looks) ?? alike[0]!;
    for (const name of alike)
      if (name !== original && name.toLowerCase() !== original.toLowerCase()) found.set(name, original);
  }
  if (!isClose) return found;
  // Each name without one of its letters: two that differ in one letter, or in the order of two, share one of these.
  const shortened = new Map<string, string>();
  for (const name of new Set(names)) {
    if (name.length < DEFAULTS.name || name.length > 64) continue;
    const lower = name.toLowerCase();
    for (const key of [lower, ...withoutOne(lower)]) {
      const other = shortened.get(key);
      if (other === undefined) shortened.set(key, name);
      else if (
        other !== name &&
        !found.has(name) &&
        !found.has(other) &&
        isOneLetterOff(other.toLowerCase(), lower)
      )
        found.set(name, other);
    }
  }
  return found;
}

function withoutOne(name: string): string[] {
  return [...name].map((_, at) => `${name.slice(0, at)}${name.slice(at + 1)}`);
}

/** A number, an ending or a part of its own is a name people give on purpose: `db1`, `notes`, `mail-b`. */
function isOneLetterOff(one: string, other: string): boolean {
  if (one === other || Math.abs(one.length - other.length) > 1) return false;
  let from = 0;
  while (from < one.length && one[from] === other[from]) from++;
  const parts = (name: string) => name.split(/[-_.]/);
  const [a, b] = [parts(one), parts(other)];
  const differs = a.length === b.length ? a.findIndex((part, at) => part !== b[at]) : -1;
  if (differs < 0 || Math.min(a[differs]!.length, b[differs]!.length) < 4) return false;
  const isNumber = /\d/.test(one[from] ?? '') || /\d/.test(other[from] ?? '');
  const isPlural = one === `${other}s` || other === `${one}s`;
  return !isNumber && !isPlural;
}
