const END = '<!-- end -->';
const ANY_MARK = /^<!-- measured: (.+) -->$/gm;

/** The measurements of one run of the command, under a name. */
export interface GrowthSection {
  /** What grows, and on which store. */
  readonly name: string;
  readonly text: string;
}

/**
 * Puts these sections between their marks in the page, replacing sections of the same name; all others stay. A new
 * name is added after the last section.
 */
export function withSections(page: string, sections: readonly GrowthSection[]): string {
  return sections.reduce(withSection, page);
}

function withSection(page: string, { name, text }: GrowthSection): string {
  const mark = `<!-- measured: ${name} -->`;
  const section = `${mark}\n${text}\n${END}`;
  const start = page.indexOf(mark);
  if (start >= 0) return page.slice(0, start) + section + page.slice(endAfter(page, start));
  const last = [...page.matchAll(ANY_MARK)].at(-1);
  if (!last) throw new Error('The page has no mark for measurements');
  const behind = endAfter(page, last.index);
  return `${page.slice(0, behind)}\n\n${section}${page.slice(behind)}`;
}

function endAfter(page: string, start: number): number {
  const end = page.indexOf(END, start);
  if (end < 0) throw new Error(`There is no ${END} after the mark at ${start}`);
  return end + END.length;
}
