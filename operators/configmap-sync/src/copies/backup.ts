import { ConfigMap, keyOf, type ObjectKey } from '@bowline/kubernetes';
import { type LiveClient, saveBackup } from '@bowline/runtime';
import { LABELS, labelValueOf } from '../api/names.ts';

const SUFFIX = '-before-sync';

/** The most that a name may have, less the suffix and, where that name is taken, a dash and 8 characters of a hash. */
const MOST_NAME_CHARACTERS = 253 - SUFFIX.length - 9;

/** saveContent keeps what a ConfigMap holds in another one beside it, which nobody but people deletes. Answers its key. */
export async function saveContent(
  tools: { readonly client: Pick<LiveClient, 'find' | 'create'>; readonly fieldManager: string },
  configMap: ConfigMap,
): Promise<ObjectKey> {
  const { namespace, name } = keyOf(configMap);
  const { data, binaryData } = configMap;
  const start = name.slice(0, MOST_NAME_CHARACTERS).replace(/[-.]+$/, '');
  return saveBackup({
    ...tools,
    resource: ConfigMap,
    key: { namespace, name: `${start}${SUFFIX}` },
    content: {
      metadata: { labels: { [LABELS.backupOf]: labelValueOf(name) } },
      ...(data ? { data } : {}),
      ...(binaryData ? { binaryData } : {}),
    },
    contentOf: ({ data = {}, binaryData = {} }) => ({ data, binaryData }),
  });
}
