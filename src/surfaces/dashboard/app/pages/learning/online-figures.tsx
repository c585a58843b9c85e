import type { Learning } from '../../../shared/api-types.ts';
import { number, percent, plural } from '../../format.ts';

/** How work goes, of the newest runs. */
export function OnlineFigures({ of: { success, runs, runs_to_ten_percent, suggestions } }: { of: Learning }) {
  const { success_rate, mean_path_length, mean_absolute_td_error } = success;
  const figures = [
    { title: 'Runs looked back on', value: number(runs), note: 'that say what they are for' },
    { title: 'Runs that succeed', value: told(success_rate, percent), note: 'of the 100 newest' },
    { title: 'Steps per run', value: told(mean_path_length, number), note: 'on average, of the 100 newest' },
    {
      title: 'Runs until +10 %',
      value: told(runs_to_ten_percent, number),
      note:
        runs_to_ten_percent === null
          ? 'not 10 % better than search yet'
          : 'then it was 10 % better than search',
    },
    {
      title: 'Plans accepted',
      value: told(suggestions.acceptance_rate, percent),
      note: inWords(suggestions),
    },
    {
      title: 'TD error',
      value: told(mean_absolute_td_error, (error) => error.toFixed(3)),
      note: 'how far success is foretold wrongly, 0 to 1',
    },
  ];
  return (
    <dl class="learning-figures">
      {figures.map(({ title, value, note }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd class="learning-figure">{value}</dd>
          <dd class="muted">{note}</dd>
        </div>
      ))}
    </dl>
  );
}

function inWords({ made, accepted, edited, rejected }: Learning['suggestions']): string {
  if (made === 0) return 'no plan was suggested yet';
  return `of ${plural(made, 'suggestion')}: ${accepted} run as they were, ${edited} edited, ${rejected} rejected`;
}

function told(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value);
}
