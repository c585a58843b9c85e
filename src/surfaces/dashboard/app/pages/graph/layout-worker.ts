import { forceLayout, type LayoutTask } from './force-layout.ts';

/** Computes the layout in a worker, so that the page stays responsive. */
export interface LayoutOrder extends LayoutTask {
  readonly id: number;
}

export interface LayoutAnswer {
  readonly id: number;
  /** [2 x nodes] */
  readonly positions: Float32Array;
  readonly ms: number;
}

const scope = self as unknown as {
  onmessage: (message: MessageEvent<LayoutOrder>) => void;
  postMessage(answer: LayoutAnswer, transfer: Transferable[]): void;
};

scope.onmessage = ({ data }) => {
  const began = performance.now();
  const positions = forceLayout(data);
  scope.postMessage({ id: data.id, positions, ms: performance.now() - began }, [positions.buffer]);
};
