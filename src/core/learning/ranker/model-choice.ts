/**
 * What people may choose of the ranking model. Apart from the model itself: reading a configuration must not load it.
 */

/** What may be added to the terms that serve by default. */
export const OPTIONAL_TERMS = ['message_passing', 'set_attention', 'candidate_attention'] as const;

export interface ModelChoice {
  readonly terms?: readonly (typeof OPTIONAL_TERMS)[number][];
  /** `adaptive`: by the number of runs it is trained on. */
  readonly heads?: number | 'adaptive';
}
