import { expect, test } from 'vitest';
import { shownLine, shownText } from './format.ts';

test('[DASH-12] characters that hide or reverse text are shown as escapes, all others as they are', () => {
  expect(shownText('a\u202eb\u200bc\u0007d\u001b[31m\ufeff')).toBe(
    'a\\u202eb\\u200bc\\u0007d\\u001b[31m\\ufeff',
  );
  expect(shownText('\u{e0041}')).toBe('\\u{e0041}');
  expect(shownText('tab\tline\nwindows\r\nÄ 漢 🙂 <b>')).toBe('tab\tline\nwindows\nÄ 漢 🙂 <b>');
});

test('[DASH-12] on one line the text stays within its length, even where much of it is escaped', () => {
  expect(shownLine('  two\n  lines  ')).toBe('two lines');
  expect(shownLine('a'.repeat(300), 10)).toBe('aaaaaaaaa…');
  expect(shownLine('\u202e'.repeat(300), 10)).toHaveLength(10);
});
