import { keyOf, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import { describeKey } from '../writing/describe-object.ts';
import type { Writer } from '../writing/writer.ts';
import type { WriteDeclaration } from './controller.ts';

/** NameCheck rejects, by throwing, a write of an object whose name is not declared. */
export type NameCheck = (verb: WriteVerb, resource: Resource, key: ObjectKey) => void;

/** WriteVerb is a write of the context, as it appears in messages. */
type WriteVerb = 'apply' | 'create' | 'remove' | 'ensure' | 'release';

/**
 * declaredNamesCheck rejects writes of objects outside the `names` of the declarations for their kind: the API server
 * would refuse them, because the controller has rights for these names only.
 */
export function declaredNamesCheck(writes: readonly WriteDeclaration[]): NameCheck {
  if (writes.every(({ names }) => names === undefined)) return () => undefined;
  return (verb, resource, key) => {
    const declared = writes.filter((write) => write.resource.id === resource.id && allows(write, verb));
    if (declared.length === 0 || declared.some(({ names }) => !names || names.includes(key.name))) return;
    const names = declared.flatMap((write) => write.names ?? []);
    const declarations = declared.map((write) => (write.verb === 'apply' ? '.owns or .applies' : '.ensures'));
    throw new BowlineError(
      'BOWLINE_NAME_UNDECLARED',
      `cannot ${verb} ${describeKey(resource, key)}: ${[...new Set(declarations)].join(' or ')} declares ${resource.kind} with the names ${[...new Set(names)].join(', ')} only; add the name to "names", or omit "names"`,
    );
  };
}

function allows({ verb, remove }: WriteDeclaration, wanted: WriteVerb): boolean {
  if (wanted === 'remove') return remove;
  return verb === (wanted === 'ensure' || wanted === 'release' ? 'ensure' : 'apply');
}

/** withCheckedNames returns a writer that rejects undeclared names before anything else. */
export function withCheckedNames(writer: Writer, check: NameCheck): Writer {
  return {
    ...writer,
    async apply(resource, desired, options) {
      // The writer rejects an object without a name, with its own message.
      if (desired.metadata?.name) check('apply', resource, keyOf(desired));
      return writer.apply(resource, desired, options);
    },
    async createOnce(resource, key, make, options) {
      check('create', resource, key);
      return writer.createOnce(resource, key, make, options);
    },
    async remove(resource, key, options) {
      check('remove', resource, key);
      return writer.remove(resource, key, options);
    },
  };
}
