import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { createEmbedder } from './create-embedder.ts';

/** Runs a module in a process of its own; what it prints. */
function printed(code: string): string {
  const module = new URL('./create-embedder.ts', import.meta.url);
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', `import { createEmbedder } from '${module}';\n${code}`],
    { encoding: 'utf8' },
  );
  expect(status, stderr).toBe(0);
  return stdout.trim();
}

describe('createEmbedder', () => {
  test('[EMB-4] loads nothing before the first text', () => {
    const output = printed(`
      process.on('worker', () => console.log('started'));
      const embedder = createEmbedder({ kind: 'minilm' });
      await new Promise(setImmediate);
      console.log(embedder.model, embedder.dimension);
      await embedder.embed(['text']);
      await embedder.close();
    `);
    expect(output).toBe('all-MiniLM-L6-v2/uint8 384\nstarted');
  });

  test('[EMB-4] does not keep the process alive once it is idle', () => {
    const output = printed(`
      const [vector] = await createEmbedder({ kind: 'minilm' }).embed(['text']);
      console.log(vector.length);
    `);
    expect(output).toBe('384');
  });

  test('[EMB-9] takes an endpoint as it is configured', () => {
    const embedder = createEmbedder({
      kind: 'openai',
      url: 'http://localhost:1/v1',
      model: 'some-model',
      dimension: 1536,
      apiKey: null,
    });
    expect(embedder).toMatchObject({ model: 'openai/some-model', dimension: 1536 });
  });

  test('[EMB-8] takes a model of the Hugging Face hub', () => {
    const embedder = createEmbedder({ kind: 'transformers', model: 'Xenova/bge-m3' });
    expect(embedder).toMatchObject({ model: 'transformers/Xenova/bge-m3', dimension: 1024 });
  });
});
