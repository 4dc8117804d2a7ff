import { ProviderError } from '../providers/provider-error.ts';
import type { ConfiguredKind } from '../providers/provider-kinds.ts';
import type { SourceEntry } from './source-entry.ts';

/** unexpected is what a provider threw by mistake. That may quote what it read: only its kind is passed on. */
export function unexpected({ kind, ref }: SourceEntry, error: unknown): ProviderError {
  const { name } = placeOf(error);
  const said = `reading ${ref.path} from ${kind.name} failed in a way that nobody has foreseen (${name}); the operator's log says where, please report it`;
  return new ProviderError(said, { kind: 'transient', provider: kind.name, operation: 'read', code: 'Unexpected' });
}

/** placeOf is where an error comes from, without anything that it says. */
export function placeOf(error: unknown): { readonly name: string; readonly at: readonly string[] } {
  if (!(error instanceof Error)) return { name: typeof error, at: [] };
  const { stack = '', message } = error;
  // The message, which may have several lines, stands in front.
  const frames = stack.slice(stack.indexOf(message) + message.length).split('\n');
  return { name: error.constructor.name, at: frames.flatMap((line) => /^ {4}at (.+)$/.exec(line)?.[1] ?? []) };
}

/** tookTooLong is an attempt that was ended at its time. */
export function tookTooLong({ kind, ref }: SourceEntry, limitMs: number): ProviderError {
  return new ProviderError(`reading ${ref.path} from ${kind.name} took longer than ${limitMs / 1000} s`, {
    kind: 'transient',
    provider: kind.name,
    operation: 'read',
    code: 'Timeout',
  });
}

/** unknownProvider is a request that names a provider which there is not. */
export function unknownProvider(provider: string, kinds: ReadonlyMap<string, ConfiguredKind>): ProviderError {
  return new ProviderError(
    `there is no provider ${JSON.stringify(provider)}; there are ${[...kinds.keys()].join(', ')}`,
    {
      kind: 'refused',
      provider,
      operation: 'load',
      code: 'UnknownProvider',
    },
  );
}
