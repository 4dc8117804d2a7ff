import { VirtualClock } from '@bowline/machinery';
import { AccessReviews } from '@bowline/runtime/access';
import { createClient } from '@bowline/runtime/client';
import { describe, expect, test } from 'vitest';
import { ReviewingTransport } from './reviewing-transport.test-support.ts';
import type { Right } from './rights.ts';
import { reviewServiceAccount } from './service-account.ts';

const create = (namespace: string): Right => ({ verb: 'create', resource: 'configmaps', namespace });
const get = (namespace: string, name: string): Right => ({ verb: 'get', resource: 'configmaps', namespace, name });

function reviewing(allowed: string[]) {
  const transport = new ReviewingTransport(...allowed);
  const client = createClient({ transport });
  const reviewedRights = (): string[] => transport.sentReviews.map(({ right }) => right);
  return { transport, client, reviewedRights, reviews: new AccessReviews({ client, clock: new VirtualClock() }) };
}

describe('reviewServiceAccount', () => {
  const account = { namespace: 'team', name: 'syncer' };
  const path = '/api/v1/namespaces/team/serviceaccounts/syncer';
  const rights = [get('a', 'm'), create('b')];

  test('reports a missing account', async () => {
    const { client, reviews, reviewedRights } = reviewing([]);
    const verdict = await reviewServiceAccount({ live: client, reviews, account, rights });
    expect(verdict).toMatchObject({ granted: false, reason: 'ServiceAccountNotFound' });
    expect(verdict.message).toContain('team/syncer does not exist');
    expect(reviewedRights()).toEqual([]);
  });

  test('reports the permissions that the account lacks', async () => {
    const { client, reviews, transport } = reviewing(['get configmaps a/m']);
    transport.objects.add(path);
    const verdict = await reviewServiceAccount({ live: client, reviews, account, rights });
    expect(verdict).toMatchObject({ granted: false, reason: 'InsufficientPermissions', missing: [create('b')] });
    expect(verdict.message).toContain('create configmaps in namespace b');
    expect(transport.sentReviews[0]?.spec).toMatchObject({
      user: 'system:serviceaccount:team:syncer',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:team', 'system:authenticated'],
    });
  });

  test('grants an account with all permissions', async () => {
    const { client, reviews, transport } = reviewing(['get configmaps */*', 'create configmaps b/*']);
    transport.objects.add(path);
    expect(await reviewServiceAccount({ live: client, reviews, account, rights })).toMatchObject({ granted: true });
  });
});
