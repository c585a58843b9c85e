import { expect, test } from 'vitest';
import { toolValue } from './call-tool.ts';

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

test('[CALL-7] what a tool gave is its structured content, else its JSON text parsed, else its text', () => {
  expect(toolValue({ ...text('{"a":1}'), structuredContent: { b: 2 } })).toEqual({ b: 2 });
  for (const value of [{ a: [1] }, [1, 'x'], 'quoted', -7.5, 0, true, false, null]) {
    expect(toolValue(text(` ${JSON.stringify(value)} `))).toEqual(value);
  }
  for (const value of ['plain words', '', '{not json', 'true story', '- a list', '12 monkeys']) {
    expect(toolValue(text(value))).toBe(value);
  }
  expect(toolValue({ content: [{ type: 'image', data: '' }] })).toBe('');
});
