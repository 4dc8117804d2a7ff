import { type KubernetesObject, keyOf, type ObjectKey } from '@bowline/kubernetes';
import { shortenName } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import { saveBackup } from '../writing/backup.ts';
import { describeKey } from '../writing/describe-object.ts';
import type { WriteTools } from '../writing/write-client.ts';
import { contentIn } from './content.ts';
import type { ManagedContent } from './managed-content.ts';

/** The maximum length of a label's value, and of the name of an object. */
const MAX_LABEL_CHARACTERS = 63;
const MAX_NAME_CHARACTERS = 253;

/** What a backup's name may need after its suffix, if the name is taken: a dash and 8 characters of a hash. */
const HASH_CHARACTERS = 9;

/**
 * saveContent saves the content of an object in another object of its namespace, `<name><suffix>`, which is never
 * deleted automatically. It returns the key of that object.
 */
export async function saveContent<T extends KubernetesObject, Id extends string, K extends string, M extends string>(
  tools: WriteTools,
  { resource, maps, backup }: Pick<ManagedContent<T, Id, K, M>, 'resource' | 'maps' | 'backup'>,
  object: T,
): Promise<ObjectKey> {
  const { namespace, name } = keyOf(object);
  if (!backup) {
    throw new BowlineError(
      'BOWLINE_WRITE_INVALID',
      `cannot save the content of ${describeKey(resource, { namespace, name })}: its format has no backup; add one to managedContent()`,
    );
  }
  const { type, ...members } = object as object as { readonly type?: unknown; readonly [map: string]: unknown };
  const saved = maps.flatMap((map) => (members[map] === undefined ? [] : [[map, members[map]]]));
  const maxCharacters = MAX_NAME_CHARACTERS - backup.suffix.length - HASH_CHARACTERS;
  return saveBackup<KubernetesObject>(tools, {
    resource,
    key: { namespace, name: `${name.slice(0, maxCharacters).replace(/[-.]+$/, '')}${backup.suffix}` },
    content: {
      metadata: { labels: { [backup.label]: shortenName(name, MAX_LABEL_CHARACTERS) } },
      ...(type === undefined ? {} : { type }),
      ...Object.fromEntries(saved),
    },
    contentOf: (stored) => contentIn(maps, stored),
  });
}
