import { keyString, Secret } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import { isAlreadyExists, isConflict } from '@bowline/runtime/client';
import type { CommandCluster } from '@bowline/runtime/manager';
import { MOCK_SECRET, type MockValues, mockSecretData, readMockValues } from '../providers/mock/mock-values.ts';

/** The maximum number of attempts when other clients write concurrently. */
const MAX_ATTEMPTS = 5;

/** readStored returns the values of the cluster's mock. */
export async function readStored({ client, namespace }: CommandCluster, signal: AbortSignal): Promise<MockValues> {
  return readMockValues(await client.find(Secret, { namespace, name: MOCK_SECRET }, { signal }));
}

/**
 * changeStored changes the values of the cluster's mock, and returns them. It writes only their own entry of the
 * Secret, and only if the Secret has not changed since it was read, so that no concurrent change is lost.
 */
export async function changeStored(
  { client, namespace }: CommandCluster,
  change: (stored: Secret | undefined) => MockValues,
  signal: AbortSignal,
): Promise<MockValues> {
  const key = { namespace, name: MOCK_SECRET };
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const stored = await client.find(Secret, key, { signal });
    const values = change(stored);
    const data = mockSecretData(values);
    try {
      if (stored) {
        const { resourceVersion } = stored.metadata ?? {};
        await client.patch(Secret, key, { type: 'merge', body: { metadata: { resourceVersion }, data } }, { signal });
      } else {
        await client.create(Secret, { metadata: key, data }, { signal });
      }
      return values;
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
  }
  throw new BowlineError(
    'BOWLINE_JASM_MOCK_BUSY',
    `cannot change the Secret ${keyString(key)}: other clients changed it during each of ${MAX_ATTEMPTS} attempts; try again`,
  );
}
