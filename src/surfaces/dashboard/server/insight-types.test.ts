import { expectTypeOf, test } from 'vitest';
import type { ScoreShares } from '../../../engine/catalogue/search.ts';
import type { capabilityHitToWire } from '../../../engine/gateway-wire.ts';
import type { insightToWire } from '../../../engine/learning/learning-insight.ts';
import type { CapabilityHit } from '../shared/capability-types.ts';
import type { LearningInsight } from '../shared/learning-types.ts';
import type { ScoreShares as ShownShares } from '../shared/search-types.ts';

test('[DASH-8] the page expects what is told of scores, capabilities that were found, and learning', () => {
  expectTypeOf<ScoreShares>().toExtend<ShownShares>();
  expectTypeOf<ReturnType<typeof capabilityHitToWire>>().toExtend<CapabilityHit>();
  expectTypeOf<ReturnType<typeof insightToWire>>().toExtend<LearningInsight>();
});
