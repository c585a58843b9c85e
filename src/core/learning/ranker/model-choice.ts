/**
 * The configurable parts of the ranking model, in a separate file so that reading a configuration does not load it.
 */

/** Terms that can be added to the default ones. */
export const OPTIONAL_TERMS = ['message_passing', 'set_attention', 'candidate_attention'] as const;

export interface ModelChoice {
  readonly terms?: readonly (typeof OPTIONAL_TERMS)[number][];
  /** `adaptive`: by the number of training runs. */
  readonly heads?: number | 'adaptive';
}
