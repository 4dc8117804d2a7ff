import { OWN_NAMESPACE } from '@bowline/runtime';
import { describe, expect, it } from 'vitest';
import { beacon } from '../testing/beacon.test-support.ts';
import { badge, sticker } from '../testing/test-operators.test-support.ts';
import { commandsToTry } from './commands-to-try.ts';

const sample = { apiVersion: 'cli.test.bowline.dev/v1', kind: 'Badge', metadata: { namespace: 'a', name: 'b' } };
const withSample = { ...badge, samples: [sample] };
const withTries = { ...sticker, local: { suggestedCommands: ['bowline sticker peel a', 'kubectl get stickers'] } };
const events = 'kubectl get events -A --watch';

describe('commandsToTry', () => {
  it('describes a sample if an operator declares no commands, and shows events last', () => {
    const tries = ['kubectl get badges -A', 'kubectl describe badges b -n a', events];
    expect(commandsToTry([withSample], undefined, {})).toEqual(tries);
    expect(commandsToTry([sticker], undefined, {})).toEqual(['kubectl get namespaces', events]);
  });

  it('names no namespace of a cluster-scoped sample, and the namespace of the manager where a sample is in its own', () => {
    const tries = ['kubectl get beacons', 'kubectl describe beacons cluster', events];
    expect(commandsToTry([beacon], undefined, {})).toEqual(tries);
    const own = { ...badge, samples: [{ ...sample, metadata: { namespace: OWN_NAMESPACE, name: 'b' } }] };
    expect(commandsToTry([own], undefined, {})[1]).toBe('kubectl describe badges b -n bowline-system');
  });

  it('takes the first command of every operator before the second of any', () => {
    const tries = ['kubectl get badges -A', 'bowline sticker peel a', events];
    expect(commandsToTry([withSample, withTries], undefined, {})).toEqual(tries);
  });

  it('starts with all objects, and one command of every operator that does more than read, if several have kinds', () => {
    const inCategory = (operator: typeof badge, ...suggestedCommands: readonly string[]) => ({
      ...operator,
      resources: badge.resources.map((each) => ({
        ...each,
        definition: { ...each.definition, categories: ['bowline'] },
      })),
      local: { suggestedCommands },
    });
    const first = inCategory(badge, 'kubectl get badges', 'kubectl patch badge b', 'kubectl delete badge b');
    const tries = ['kubectl get bowline -A', 'kubectl patch badge b', 'bowline sticker peel a', events];
    expect(commandsToTry([first, inCategory(sticker, 'kubectl describe c'), withTries], undefined, {})).toEqual(tries);
  });

  it('includes the kubeconfig, and the command that started Bowline', () => {
    expect(commandsToTry([withTries], '/tmp/k', { npm_lifecycle_event: 'start' })).toEqual([
      'npm run bowline -- sticker peel a --kubeconfig /tmp/k',
      'kubectl --kubeconfig /tmp/k get stickers',
      'kubectl --kubeconfig /tmp/k get events -A --watch',
    ]);
  });
});
