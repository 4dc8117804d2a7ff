import { ProviderError } from '../providers/provider-error.ts';
import type { ConfiguredKind } from '../providers/provider-kinds.ts';
import type { SourceEntry } from './source-entry.ts';

/**
 * unexpectedError returns the error for an exception that a provider threw because of a bug. Its message may quote what
 * it read, so only its type is passed on.
 */
export function unexpectedError({ kind, ref }: SourceEntry, error: unknown): ProviderError {
  const { name } = locationOf(error);
  const text = `cannot read ${ref.path} from ${kind.name} because of an internal error (${name}); report a bug with the stack trace in the operator's log`;
  return new ProviderError(text, { kind: 'transient', provider: kind.name, operation: 'read', code: 'Unexpected' });
}

/** locationOf returns where an error was thrown, without its message. */
export function locationOf(error: unknown): { readonly name: string; readonly at: readonly string[] } {
  if (!(error instanceof Error)) return { name: typeof error, at: [] };
  const { stack = '', message } = error;
  // The message comes first, and may have several lines.
  const frames = stack.slice(stack.indexOf(message) + message.length).split('\n');
  return { name: error.constructor.name, at: frames.flatMap((line) => /^ {4}at (.+)$/.exec(line)?.[1] ?? []) };
}

/** attemptTimeout returns the error of an attempt that exceeded its time limit. */
export function attemptTimeout({ kind, ref }: SourceEntry, limitMs: number): ProviderError {
  return new ProviderError(
    `cannot read ${ref.path} from ${kind.name}: no response within ${limitMs / 1000} s; it is retried`,
    {
      kind: 'transient',
      provider: kind.name,
      operation: 'read',
      code: 'Timeout',
    },
  );
}

/** unknownProvider returns the error of a request that names an unknown provider. */
export function unknownProvider(provider: string, kinds: ReadonlyMap<string, ConfiguredKind>): ProviderError {
  return new ProviderError(
    `unknown provider ${JSON.stringify(provider)}; supported providers: ${[...kinds.keys()].join(', ')}`,
    {
      kind: 'refused',
      provider,
      operation: 'load',
      code: 'UnknownProvider',
    },
  );
}
