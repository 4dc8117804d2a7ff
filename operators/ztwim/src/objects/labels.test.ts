import { describe, expect, it } from 'vitest';
import { sampleServer } from '../testing/sample-inputs.test-support.ts';
import { type Component, objectLabels, selectorLabels } from './labels.ts';

const component = (image = 'ghcr.io/spiffe/spire-server:1.13.3'): Component => ({
  name: 'spire-server',
  component: 'control-plane',
  image,
});

describe('objectLabels', () => {
  it('returns the labels that every object has', () => {
    expect(objectLabels(sampleServer(), component())).toEqual({
      'app.kubernetes.io/name': 'spire-server',
      'app.kubernetes.io/instance': 'cluster-zero-trust-workload-identity-manager',
      'app.kubernetes.io/component': 'control-plane',
      'app.kubernetes.io/part-of': 'zero-trust-workload-identity-manager',
      'app.kubernetes.io/version': '1.13.3',
      'app.kubernetes.io/managed-by': 'bowline-ztwim',
    });
  });

  it('does not let the labels of users replace ours', () => {
    const ours = objectLabels(sampleServer(), component());
    const labels = { ...Object.fromEntries(Object.keys(ours).map((key) => [key, 'theirs'])), team: 'a' };
    expect(objectLabels(sampleServer({ spec: { labels } }), component())).toEqual({ ...ours, team: 'a' });
    expect(objectLabels(sampleServer({ shared: { labels } }), component())).toEqual({ ...ours, team: 'a' });
  });

  const digest = `sha256:${'0'.repeat(64)}`;
  it.each<[string, string]>([
    ['spire-server:1.13.3', '1.13.3'],
    ['registry.example.io:5000/spire-server:v1', 'v1'],
    [`registry.example.io:5000/spire-server:1.13.3@${digest}`, '1.13.3'],
    [`registry.example.io:5000/spire-server@${digest}`, 'unknown'],
    ['registry.example.io:5000/spire-server', 'unknown'],
    ['spire-server', 'unknown'],
    [`spire-server:${'1'.repeat(63)}`, '1'.repeat(63)],
    [`spire-server:${'1'.repeat(64)}`, 'unknown'],
    ['spire-server:1.13-', 'unknown'],
  ])('reads the version from the image %s', (image, version) => {
    expect(objectLabels(sampleServer(), component(image))['app.kubernetes.io/version']).toBe(version);
  });
});

describe('selectorLabels', () => {
  it('returns only labels that never change', () => {
    expect(Object.keys(selectorLabels(component()))).toEqual([
      'app.kubernetes.io/name',
      'app.kubernetes.io/instance',
      'app.kubernetes.io/component',
    ]);
  });
});
