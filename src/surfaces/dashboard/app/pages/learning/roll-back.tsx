import { useState } from 'preact/hooks';
import type { Learning } from '../../../shared/api-types.ts';
import { postJson } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { tellingOutcome } from '../../components/toast.tsx';
import { moment, plural } from '../../format.ts';

/** Back to the training before, once a person has said yes. */
export function RollBack({ of: { history }, onDone }: { of: Learning; onDone: (after: Learning) => void }) {
  const [isAsking, setAsking] = useState(false);
  const before = history[1];
  const rollBack = async () => {
    const after = await tellingOutcome(postJson<Learning>('/learning/rollback'), 'Rolled back');
    setAsking(false);
    if (after) onDone(after);
  };
  return (
    <>
      <Button needs="manage" onClick={() => setAsking(true)}>
        Roll back…
      </Button>
      {isAsking && (
        <Dialog
          title="Roll back?"
          onClose={() => setAsking(false)}
          actions={
            <>
              <Button onClick={() => setAsking(false)}>Keep it</Button>
              <Button kind="danger" onClick={() => void rollBack()}>
                Roll back
              </Button>
            </>
          }
        >
          <p>
            The newest training is dropped.{' '}
            {before
              ? `What was learned from ${plural(before.runs, 'run')} at ${moment(before.trained_at)} is used again.`
              : 'There is none before it: search ranks by text alone.'}{' '}
            The runs stay, and nothing is trained again before as many more have come as after any training.
          </p>
        </Dialog>
      )}
    </>
  );
}
