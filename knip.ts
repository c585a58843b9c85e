import type { KnipConfig } from 'knip';

/** In production mode tests, benches and scripts do not count as users: what only they import is not part of the product. */
const isProduct = process.argv.includes('--production');

export default {
  entry: [
    'src/main.ts!',
    'src/client.ts!',
    'src/core/vocabulary/*.ts!',
    'src/engine/ports.ts!',
    'src/adapters/**/*-worker.ts!',
    'src/adapters/store/migrations/0*.ts!',
    'src/surfaces/dashboard/app/main.tsx!',
    'src/surfaces/dashboard/app/**/*-worker.ts!',
    'scripts/*.ts',
    'bench/*.ts',
    'test/architecture/fixtures/failing-proof/*.ts',
    'test/clients/drive.ts',
    'test/fixtures/servers/*-server.ts',
  ],
  project: [
    'src/**/*.{ts,tsx}!',
    '!src/**/*.test.{ts,tsx}!',
    '{test,bench,scripts}/**/*.{ts,tsx}',
    'bin/*.js!',
  ],
  // A test may import what its file uses, too; an export without any user but tests may not stay in src.
  ignoreExportsUsedInFile: isProduct || { interface: true, type: true },
  ignoreDependencies: [
    '@modelcontextprotocol/conformance',
    '@modelcontextprotocol/server-(everything|filesystem|memory|sequential-thinking)',
  ],
} satisfies KnipConfig;
