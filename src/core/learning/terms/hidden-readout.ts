import type { Floats, Matrix, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { createParameter, type Parameter } from '../ranker/rank-term.ts';
import { Projection, randomStart } from './projection.ts';

/** score = v . relu(x W + b), one number for each row of x. v starts at 0 and W at random: 0 comes out, and it learns. */
export class HiddenReadout {
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;
  readonly #inward: Projection;
  readonly #bias: Parameter;
  readonly #outward: Parameter;
  /** Of the last forward pass. [rows x hidden] */
  #activations: Matrix<Floats> | undefined;

  constructor(
    multiplier: Multiplier<Floats>,
    name: string,
    inputs: number,
    hidden: number,
    random: Random,
    pace = 1,
  ) {
    const start = randomStart(inputs, hidden, 1 / inputs, random);
    const none = new Float32Array(hidden);
    this.#multiplier = multiplier;
    this.#inward = new Projection(multiplier, `${name}.inward`, start, { pace, isHeld: true });
    this.#bias = createParameter(multiplier, `${name}.bias`, none, { pace, isHeld: true });
    this.#outward = createParameter(multiplier, `${name}.outward`, none, { pace, isHeld: true });
    this.parameters = [this.#inward.parameter, this.#bias, this.#outward];
  }

  /** [rows] */
  forward(inputs: Matrix<Floats>): Floats {
    const activations = this.#inward.forward(inputs);
    this.#activations = activations;
    const { rows, columns, values } = activations;
    const [bias, outward] = [this.#bias.values, this.#outward.values];
    const scores = this.#multiplier.floats(rows);
    for (let row = 0, at = 0; row < rows; row++) {
      for (let c = 0; c < columns; c++, at++) {
        values[at] = Math.max(0, values[at]! + bias[c]!);
        scores[row]! += outward[c]! * values[at]!;
      }
    }
    return scores;
  }

  /** After `forward`, with slopes [rows]; gives those of the inputs. */
  backward(slopes: Floats): Matrix<Floats> {
    const { rows, columns, values } = this.#activations!;
    const outward = this.#outward.values;
    const back = this.#multiplier.floats(values.length);
    for (let row = 0, at = 0; row < rows; row++) {
      for (let c = 0; c < columns; c++, at++) {
        this.#outward.slopes[c]! += slopes[row]! * values[at]!;
        if (values[at]! > 0) back[at] = slopes[row]! * outward[c]!;
        this.#bias.slopes[c]! += back[at]!;
      }
    }
    const hidden: Matrix<Floats> = { rows, columns, values: back };
    this.#inward.backward(hidden);
    return this.#inward.slopesOfInputs(hidden);
  }
}
