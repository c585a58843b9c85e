import type { GraphNodeDetails } from '../../../shared/api-types.ts';
import { shownLine } from '../../format.ts';

/** What each statistic says, in the order in which they are shown. */
const IN_WORDS: Readonly<Record<string, string>> = {
  historical_success_rate: 'Succeeds in the runs that use it',
  contextual_success_rate: 'Succeeds after what was used just before',
  intent_similar_success_rate: 'Succeeds in runs with a similar intent',
  cooccurrence_with_context: 'Is used along with what was used just before',
  sequence_position: 'Place in a run: 0 is first, 1 is last',
  recency_score: 'Used lately: 1 is now, 0.37 a day ago',
  usage_frequency: 'Runs that use it: 1 is as many as any other has',
  avg_execution_time: 'Time of a call: 1 is a minute or more',
  error_recovery_rate: 'Succeeds after a failure',
  avg_path_length_to_success: 'Steps until a run succeeds: 0.25 is one, 0.5 is three',
  path_variance: 'How much these steps vary',
  'error_type_affinity.TIMEOUT': 'Succeeds after a time limit',
  'error_type_affinity.PERMISSION': 'Succeeds after a missing permission',
  'error_type_affinity.NOT_FOUND': 'Succeeds after something was not found',
  'error_type_affinity.VALIDATION': 'Succeeds after invalid arguments',
  'error_type_affinity.NETWORK': 'Succeeds after a network failure',
  'error_type_affinity.UNKNOWN': 'Succeeds after any other failure',
};

/** What past runs say of a node's chances. */
export function TraceStatistics({ values }: { values: GraphNodeDetails['trace_statistics'] }) {
  if (values === null) return <p class="faint">Too few runs to predict its success.</p>;
  return (
    <details class="graph-statistics">
      <summary>What predicts its success</summary>
      <table class="table" aria-label="What predicts its success">
        <tbody>
          {Object.entries(values).map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{IN_WORDS[name] ?? shownLine(name, 60)}</th>
              <td class="number">{value.toFixed(2)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
