import { InvalidArgumentError } from 'commander';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { ServerReport } from '../../../engine/gateway.ts';
import { serverToWire } from '../../../engine/gateway-wire.ts';
import { columns } from '../columns.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { parsePair } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { valueOf, withGateway } from '../with-gateway.ts';
import { addLogin } from './servers-login.ts';

interface AddOptions extends GlobalOptions {
  readonly url?: string;
  readonly sse?: boolean;
  readonly header?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}
