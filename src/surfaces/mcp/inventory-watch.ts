import type { Gateway } from '../../engine/gateway.ts';
import type { GatewayEvent } from '../../engine/ports.ts';

const DEFAULTS = {
  /** Many servers come up at once; clients are told when they have. */
  settleMs: 200,
};

/** Notices that the tool descriptions changed, which carry the inventory. */
export class InventoryWatch {
  readonly #gateway: Gateway;
  readonly #onChange: () => void;
  #seen: string;
  #timer: NodeJS.Timeout | undefined;

  constructor(gateway: Gateway, onChange: () => void) {
    this.#gateway = gateway;
    this.#onChange = onChange;
    this.#seen = gateway.inventory();
  }

  hear({ type }: GatewayEvent): void {
    if (type !== 'inventory_changed') return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), DEFAULTS.settleMs).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    const now = this.#gateway.inventory();
    if (now === this.#seen) return;
    this.#seen = now;
    this.#onChange();
  }
}
