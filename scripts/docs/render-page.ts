import MarkdownIt, { type Token } from 'markdown-it';
import { parse } from 'sugar-high/core';
import * as json from 'sugar-high/lang/json';
import * as typescript from 'sugar-high/lang/typescript';

/** A heading of a page, for its table of contents and for search. */
export interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

export interface RenderedPage {
  readonly title: string;
  /** The first sentences under the title. */
  readonly lead: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  /** The words below each heading; the first are those before any. */
  readonly passages: readonly { readonly id: string; readonly heading: string; readonly text: string }[];
}

/** Where a link of a page leads: another address, or null if the site does not have it. */
export type Relink = (target: string) => string | null;

const LANGUAGES = { ts: typescript, js: typescript, json };

/** Turns the Markdown of the repository into a page without inline styles or scripts, which the content policy refuses. */
export function renderPage(markdown: string, relink: Relink): RenderedPage {
  const parser = new MarkdownIt({ html: true, highlight: coloured });
  parser.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>';
  parser.renderer.rules.table_close = () => '</table></div>';
  const fence = parser.renderer.rules.fence!;
  parser.renderer.rules.fence = (tokens, index, options, env, self) =>
    `<div class="code">${fence(tokens, index, options, env, self).replace('<pre>', '<pre tabindex="0">')}</div>`;
  const tokens = parser.parse(markdown, {});
  const headings = nameHeadings(tokens);
  for (const token of tokens) {
    alignByClass(token);
    relinkIn(token, relink);
  }
  const html = parser.renderer.render(tokens, parser.options, {}).replaceAll(/<!--[\s\S]*?-->\n?/g, '');
  const passages = passagesOf(tokens, headings);
  const lead = passages.find(({ text }) => text !== '')?.text ?? '';
  return {
    title: headings[0]?.text ?? '',
    lead: /^[\s\S]{60,300}?[.!?](?=\s|$)/.exec(lead)?.[0] ?? lead.slice(0, 200),
    html,
    headings,
    passages,
  };
}

/** Ids as GitHub gives them, so that links work in both places. */
function nameHeadings(tokens: readonly Token[]): Heading[] {
  const seen = new Map<string, number>();
  return tokens.flatMap((token, i) => {
    if (token.type !== 'heading_open') return [];
    const text = plainText(tokens[i + 1]!);
    const base = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-');
    const count = seen.get(base) ?? 0;
    seen.set(base, count + 1);
    const id = count === 0 ? base : `${base}-${count}`;
    token.attrSet('id', id);
    return [{ level: Number(token.tag.slice(1)), id, text }];
  });
}

/** The parser aligns cells with inline styles. */
function alignByClass(token: Token): void {
  const given = token.attrGet('style');
  if (given === null) return;
  const style = String(given);
  token.attrs = token.attrs!.filter(([name]) => name !== 'style');
  if (style.includes('right')) token.attrJoin('class', 'right');
  if (style.includes('center')) token.attrJoin('class', 'center');
}

function relinkIn(token: Token, relink: Relink): void {
  const children = token.children ?? [];
  let dropped = 0;
  for (const child of children) {
    if (child.type === 'image') {
      const src = relink(String(child.attrGet('src')));
      if (src !== null) child.attrSet('src', src);
      child.attrSet('loading', 'lazy');
    }
    if (child.type === 'link_open') {
      const target = relink(String(child.attrGet('href')));
      if (target !== null) child.attrSet('href', target);
      else {
        dropped += 1;
        child.hidden = true;
        child.tag = 'span';
        child.attrs = [];
      }
    }
    if (child.type === 'link_close' && dropped > 0) {
      dropped -= 1;
      child.tag = 'span';
    }
  }
}

function passagesOf(tokens: readonly Token[], headings: readonly Heading[]): RenderedPage['passages'] {
  const passages: { id: string; heading: string; text: string }[] = [];
  let next = 0;
  for (const [i, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const { id, text } = headings[next++]!;
      passages.push({ id, heading: text, text: '' });
    }
    const current = passages.at(-1);
    const isHeading = tokens[i - 1]?.type === 'heading_open';
    if (current && token.type === 'inline' && !isHeading) {
      current.text += `${current.text === '' ? '' : ' '}${plainText(token)}`;
    }
  }
  return passages;
}

function plainText(token: Token): string {
  return (token.children ?? [])
    .map(({ type, content }) => {
      if (type === 'softbreak' || type === 'hardbreak') return ' ';
      return type === 'text' || type === 'code_inline' ? content : '';
    })
    .join('');
}

/** Syntax colours by class; null leaves the escaping to the parser. */
function coloured(code: string, language: string): string {
  if (language === 'sh') return code.split('\n').map(shellLine).join('\n');
  const grammar = LANGUAGES[language as keyof typeof LANGUAGES];
  if (!grammar) return '';
  return parse(code, grammar)
    .lines.map(({ tokens }) =>
      tokens.map(({ type, value }) => `<span class="code-${type}">${escapeHtml(value)}</span>`).join(''),
    )
    .join('\n');
}

function shellLine(line: string): string {
  const [, command = line, comment = ''] = /^(.*?)(\s*(?:^|\s)# .*)?$/.exec(line) ?? [];
  return `${escapeHtml(command)}${comment && `<span class="code-comment">${escapeHtml(comment)}</span>`}`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
