import type { Learning } from '../../../shared/api-types.ts';
import type { LiveEvent } from '../../../shared/events.ts';
import type { LearningInsight } from '../../../shared/learning-types.ts';
import { getJson } from '../../api.ts';
import { type Resource, useResource } from '../../resource.ts';

export function useLearning(): Resource<Learning> {
  return useResource<Learning>('learning page', {
    load: (signal) => getJson('/learning', {}, signal),
    apply: withProgress,
    reloadOn: ({ type }) => type === 'ranker_trained' || type === 'gate_changed' || type === 'run_learned',
  });
}

/** How far a training is comes by itself. */
function withProgress(data: Learning, event: LiveEvent): Learning {
  if (event.type === 'ranker_trained' || event.type === 'training_stopped')
    return { ...data, training: null };
  if (event.type !== 'training_progress') return data;
  const { stage, done, total, loss } = event;
  return { ...data, training: { stage, done, total, ...(loss !== undefined && { loss }) } };
}

export function useInsight(): Resource<LearningInsight> {
  return useResource<LearningInsight>('learning insight', {
    load: (signal) => getJson('/learning/insight', {}, signal),
    reloadOn: ({ type }) => type === 'ranker_trained' || type === 'gate_changed',
  });
}
