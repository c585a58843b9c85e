const DEFAULTS = {
  /** Fewer observed edges: the graph has little to say. */
  sparseEdges: 10,
  sparseAlpha: 0.8,
  /** So many or more: it has much to say. */
  richEdges: 50,
  richAlpha: 0.55,
};

/**
 * The share of meaning in `final = alpha x semantic + (1 - alpha) x graph`: all of it without a context
 * the graph could relate to, less the more edges were seen in runs.
 */
export function adaptiveAlpha(hasContext: boolean, nonTemplateEdges: number): number {
  const { sparseEdges, sparseAlpha, richEdges, richAlpha } = DEFAULTS;
  if (!hasContext) return 1;
  const richness = (nonTemplateEdges - sparseEdges) / (richEdges - sparseEdges);
  return sparseAlpha - (sparseAlpha - richAlpha) * Math.min(1, Math.max(0, richness));
}
