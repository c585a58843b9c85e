import { useEffect, useRef, useState } from 'preact/hooks';
import { toast } from '../../components/toast.tsx';
import type { Drawing } from './drawing.ts';
import { layOut } from './lay-out.ts';
import { keepPlaces, type Place, type Places, readPlaces } from './places.ts';

/** A drawing all of whose nodes have their place. */
export interface Settled {
  readonly drawing: Drawing;
  readonly places: Places;
  /** Changes when all of it is another one. */
  readonly scene: string;
}

/** Lays out what is new and leaves the rest where it is; until that is done the last drawing stands. */
export function useSettled(drawing: Drawing): {
  readonly settled: Settled | null;
  move(id: string, place: Place): void;
  layOutAgain(): void;
} {
  const [settled, setSettled] = useState<Settled | null>(null);
  const [round, setRound] = useState(0);
  const laidOut = useRef(0);
  const kept = useRef<Places | null>(null);
  useEffect(() => {
    let isWanted = true;
    kept.current ??= readPlaces();
    const mustAskAgain = laidOut.current !== round;
    laidOut.current = round;
    layOut(drawing, mustAskAgain ? new Map() : kept.current).then(
      (places) => {
        if (!isWanted) return;
        // Those that are not drawn now keep theirs, too.
        kept.current = new Map([...(mustAskAgain ? [] : kept.current!), ...places]);
        keepPlaces(kept.current);
        setSettled({ drawing, places, scene: `definition ${round}` });
      },
      () => isWanted && toast('The layout failed', 'bad'),
    );
    return () => {
      isWanted = false;
    };
  }, [drawing, round]);
  return {
    settled,
    move(id, place) {
      kept.current = new Map(kept.current).set(id, place);
      keepPlaces(kept.current);
      setSettled((last) => last && { ...last, places: new Map(last.places).set(id, place) });
    },
    layOutAgain: () => setRound(round + 1),
  };
}
