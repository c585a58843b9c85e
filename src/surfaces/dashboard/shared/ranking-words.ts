export { NOTHING_LEARNED_APPLIES, rankingInWords } from '../../../core/vocabulary/ranking-words.ts';
