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
const HIDDEN_ALL =
  /(?![\t\n\r\f])(?:[\p{Cf}\p{Cc}\u115f\u1160\u3164\uffa0]|[\ufe00-\ufe0e]|\u034f|[\u{e0100}-\u{e01ef}])/gu;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
/** Joiners belong to these scripts and to pictures. */
const JOINED =
  /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Malayalam}\p{Script=Kannada}\p{Script=Telugu}\p{Script=Gujarati}\p{Script=Sinhala}\p{Extended_Pictographic}]|[\u{1f3fb}-\u{1f3ff}]|\ufe0f/u;

/**
 * Orders as sequences of words: `a|b` is one of these, `a_b` are words in a row, `?` and `{1,5}` say how often, `~6` is up to
 * six other words. Words behind the first also stand for their plural. Everything is bounded, so that a text takes linear time.
 */
const ORDERS = [
  // Other instructions no longer count.
  'ignore|disregard|forget|override|bypass|discard|neglect all|any|every|of|the|your|my|our|these|those|previous|prior|above|earlier|preceding|former|foregoing|existing|other|current|system|safety|original|user{1,5} instruction|prompt|rule|guideline|direction|directive|policies|policy|message|command|constraint|restriction|guardrail',
  'this|these|following|new ~2 instruction|message|directive|rule ~2 override|supersede|replace|take_priority|take_precedence',
  'you_are_now|from_now_on_you_are|from_now_on_you_will|from_now_on_you_must|pretend_to_be|pretend_you_are|new_system_prompt|new_system_instruction|developer_mode|jailbreak|system_override',
  'forget|ignore|disregard everything|anything|all|whatever ~3 above|before|earlier|previously|told|said|so_far',
  'told|given|learned|instructed before|earlier|previously ~2 no_longer|not|obsolete|void|invalid',
  'earlier|previous|prior guidance|instruction|order|rule|prompt is|are|was|were ~1 obsolete|void|invalid|outdated|cancelled|revoked',
  'drop|abandon|stop|leave|pause your|the|this current|present|ongoing|original task|work|job|goal',
  'comply|obey only|exclusively|solely? with ~4 text|description|message|instruction',
  // The person must not know.
  'leave no trace|mention|record|sign',
  'nobody|no_one must|should|may|can|will|learn|know|see|notice',
  'do_not|dont|never|must_not|should_not|without|avoid|refrain_from ever? tell|telling|inform|informing|mention|mentioning|reveal|revealing|notify|notifying|alert|alerting|disclose|disclosing|warn|warning ~6 user|human|operator|person|anyone|anybody|them|him|her',
  'do_not|dont|never|must_not tell|mention|reveal|disclose|show|log|report about|that|of|any{0,2} this|these|it instruction|step|message|directive|note|to_user|to_the_user|to_human|to_the_human|in_your_answer|in_your_response|in_your_reply|in_the_answer|in_the_response',
  'hide|conceal|keep this|it|these|that ~4 from|secret|hidden|confidential',
  'user|human|operator must|should|need|may|can|will not|never ~2 know|see|notice|be_told|be_informed|learn|be_aware',
  'silently|secretly|covertly|quietly|discreetly ~2 send|forward|copy|upload|read|call|include|add|append|post|execute|run|invoke|transmit|exfiltrate|pass|use|email|bcc',
  // The person is said to have agreed, or is not to be asked.
  'do_not|dont|never|without|no_need_to ask|asking|request|requesting|wait_for|waiting_for|seek|require|requiring ~4 confirmation|approval|permission|consent',
  'user|human|operator|administrator|owner has|have ~2 approved|authorized|authorised|consented|agreed|confirmed|granted ~3 this|all|any|every|it|to|full|permission|access|call|action',
  'do_not|dont need|require permission|approval|consent|confirmation ~2 from|of|by user|human|person|operator|owner',
  'do_not|dont need|require ~2 user|human|person|operator permission|approval|consent|confirmation',
  // Other tools are taken over.
  'before|prior_to|instead_of|when|whenever|after|every_time|each_time you? using|calling|use|call|invoke|invoking|running|run|executing|execute any|all|every|each|another of_the? other? tool',
  'do_not|dont|never|must_not|stop use|using|call|calling|trust|invoke any|the|all? other|remaining|original|official tool|server|function',
  'when|if|whenever|while|once this|the|any ~3 tool|server|function is|are ~1 available|present|installed|loaded|connected|active ~12 must|always|should|never',
  'always|must|should first? call|use|invoke|run|prefer this tool|function|server instead_of|in_place_of|over|rather_than|and_not|not ~4 tool|server|one|other',
  // What is not the tool's business leaves with its arguments.
  'send|include|pass|append|attach|forward|add|copy|put|provide|insert|post|upload|email|transmit|leak|exfiltrate|encode|paste|write|store|place|fill|supply|give ~8 conversation|chat|message|dialogue|session history|context|log|transcript',
  'send|include|pass|append|attach|forward|add|copy|put|provide|insert|post|upload|email|transmit|leak|exfiltrate|encode|paste|write|store|place|fill|supply|give ~8 whole_conversation|entire_conversation|full_conversation|complete_conversation|whole_chat|entire_chat|full_chat|entire_context|full_context|system_prompt|system_message|previous_message|previous_conversation|previous_tool_result|previous_tool_output|previous_tool_call',
  'send|include|pass|append|attach|forward|add|copy|put|provide|insert|post|upload|email|transmit|leak|exfiltrate|encode|paste|write|store|place|fill|supply|give ~8 all|your|the_user ~1 api_key|credential|secret|password|private_key|access_token|environment_variable|ssh_key',
  'reveal|print|repeat|output|show|return|dump|summarize|summarise|quote|recite ~4 system_prompt|system_message|initial_instruction|hidden_instruction|developer_message',
  'read|open|cat|load|fetch|get|access|send|include|content_of|upload|copy|find ~8 id_rsa|id_ed25519|etc_passwd|etc_shadow|aws_credential|dot_env|ssh_folder|ssh_directory|ssh_key|private_ssh_key|cursor_mcp_json|claude_desktop_config|bash_history|kube_config|npmrc|netrc|keychain|cookies_sqlite|wallet_dat',
  'decode|decrypt|deobfuscate|unescape|rot13 ~6 and|then ~2 follow|execute|obey|run|do|perform|comply',
  'run|execute|install|paste|type ~8 curl|wget ~8 sh|bash|zsh|python|node',
  // The reader is addressed as what it is.
  'if you_are|youre an|a|the? ai|llm|language_model|assistant|agent|bot|chatbot reading|processing|summarizing|summarising|seeing|parsing|and|who|then|please|you',
  'attention|important|note|notice|message|instruction|hey|dear|hello|warning to|for? the|all|any? ai|llm|assistant|language_model|agent|model|claude|chatgpt|gpt|copilot|cursor you|please|do|must|ignore|before|stop|reading|assistant|agent|model',
  'as an|the? ai|llm|language_model|assistant ~3 you must|should|have_to|are_required',
  'you|assistant|agent|model must|should|shall|are_required_to|have_to|need_to|will ~1 obey|comply_with|follow ~3 instruction|command|order|directive below|above|in|from|of|within|without|hidden|contained|embedded',
].map(readOrder);

interface OrderStep {
  /** Words in a row, by the first of them; null: any word. */
  readonly words: ReadonlyMap<string, readonly (readonly string[])[]> | null;
  readonly least: number;
  readonly most: number;
}

function readOrder(text: string): readonly OrderStep[] {
  return text.split(' ').map((step) => {
    if (step.startsWith('~')) return { words: null, least: 0, most: Number(step.slice(1)) };
    const at = step.indexOf('{');
    const isOptional = step.endsWith('?');
    const [least = 1, most = 1] =
      at < 0
        ? isOptional
          ? [0, 1]
          : [1, 1]
        : step
            .slice(at + 1, -1)
            .split(',')
            .map(Number);
    const choices = (at < 0 ? step : step.slice(0, at))
      .replace('?', '')
      .split('|')
      .map((choice) => choice.split('_'));
    return { words: Map.groupBy(choices, ([first]) => first!), least, most };
  });
}

/** Index behind the order that begins at a word; -1 if none does. */
function orderEnd(
  steps: readonly OrderStep[],
  words: readonly string[],
  at: number,
  step = 0,
  times = 0,
): number {
  const wanted = steps[step];
  if (!wanted) return at;
  if (times >= wanted.least) {
    const end = orderEnd(steps, words, at, step + 1);
    if (end >= 0) return end;
  }
  if (times >= wanted.most || at >= words.length) return -1;
  if (wanted.words === null) return orderEnd(steps, words, at + 1, step, times + 1);
  for (const row of choicesAt(wanted.words, words[at]!)) {
    if (!row.every((word, i) => i === 0 || isWord(words[at + i], word))) continue;
    const end = orderEnd(steps, words, at + row.length, step, times + 1);
    if (end >= 0) return end;
  }
  return -1;
}

function choicesAt(words: NonNullable<OrderStep['words']>, word: string): readonly (readonly string[])[] {
  return words.get(word) ?? (word.endsWith('s') ? words.get(word.slice(0, -1)) : undefined) ?? [];
}

function isWord(found: string | undefined, word: string): boolean {
  return found === word || found === `${word}s`;
}

/** By the words they may begin with, as they stand: `ignores the rules` describes, and orders nothing. */
const BY_FIRST: ReadonlyMap<string, readonly { readonly steps: readonly OrderStep[] }[]> = Map.groupBy(
  ORDERS.flatMap((steps) => [...steps[0]!.words!.keys()].map((first) => ({ first, steps }))),
  ({ first }) => first,
);

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
const FRAME =
  /<\/?(?:important|system|instructions?|secret|hidden|admin|developer|assistant)>|<\|\w{1,20}\|>|\[\/?(?:inst|system|admin)\]|<<sys>>/;
const SPEAKERS = ['system', 'assistant', 'developer'].flatMap((who) =>
  ['', ' prompt', ' message', ' instruction', ' instructions', ' override'].map((what) => `${who}${what}:`),
);
const SQUEEZED =
  /ignore(?:all|any|previous|prior|the|your)|disregard(?:all|previous|prior|the)|donottell|nottelltheuser/;

/** What is suspicious in a text, in time linear in its length; null for most. */
export function scanText(text: string): TextMark | null {
  const bounded = text.length > DEFAULTS.text ? text.slice(0, DEFAULTS.text) : text;
  return hiddenIn(bounded) ?? orderIn(bounded);
}

function hiddenIn(text: string): TextMark | null {
  if (isGapped(text)) return { kind: 'hidden_text', what: 'text after a long gap' };
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
  const frame = FRAME.exec(plain);
  if (frame) return order(frame[0]);
  const speaker = plain.includes(':') && speakerIn(plain);
  if (speaker) return order(speaker);
  for (const phrase of PHRASES) if (plain.includes(phrase)) return order(phrase);
  const words = plain
    .replace(/['’]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  for (let at = 0; at < words.length; at++) {
    for (const { steps } of BY_FIRST.get(words[at]!) ?? []) {
      const end = orderEnd(steps, words, at);
      if (end >= 0) return order(words.slice(at, end).join(' '));
    }
  }
  const squeezed = spacedWords(words);
  return squeezed !== '' && SQUEEZED.test(squeezed) ? order(squeezed) : null;
}

/** A line that begins as what somebody else says. */
function speakerIn(plain: string): string | null {
  for (const line of plain.split('\n')) {
    const begin = line.slice(0, 40).replaceAll('#', '').trimStart();
    const speaker = SPEAKERS.find((one) => begin.startsWith(one));
    if (speaker !== undefined) return speaker;
  }
  return null;
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
function spacedWords(words: readonly string[]): string {
  let all = '';
  let run = '';
  for (const word of [...words, '']) {
    if (word.length === 1) run += word;
    else {
      if (run.length >= DEFAULTS.spaced) all += `${run} `;
      run = '';
    }
  }
  return all;
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
