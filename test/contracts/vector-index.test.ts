import { WasmVectorIndex } from '../../src/core/retrieval/wasm-vector-index.ts';
import { createMemoryVectorIndex } from '../memory/vector-index.ts';
import { vectorIndexContract } from './vector-index-contract.ts';

vectorIndexContract('in memory', createMemoryVectorIndex);
vectorIndexContract('wasm', (dimension) => new WasmVectorIndex(dimension));
