import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import { createMemorySandbox } from '../memory/sandbox.ts';
import { sandboxContract } from './sandbox-contract.ts';

sandboxContract('in memory', createMemorySandbox);

sandboxContract('isolates in processes', () => createSandbox());
