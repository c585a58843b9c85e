export { rankingInWords } from '../../../core/vocabulary/ranking-words.ts';
