import { describe, expect, it } from 'vitest';
import { CR_ANNOTATIONS } from '../api/names.ts';
import { effectiveRef, type HandledRequest } from './effective-ref.ts';

const AT = '2026-01-01T00:00:00Z';
const requested = (ref: string, at = AT) => ({
  [CR_ANNOTATIONS.requestedRef]: ref,
  [CR_ANNOTATIONS.requestedAt]: at,
});
const handled: HandledRequest = { at: AT, ref: 'v2', specRef: 'main' };

describe('effectiveRef', () => {
  it('is spec.git.ref unless another one is requested', () => {
    expect(effectiveRef({ specRef: 'main', annotations: undefined, handled: undefined })).toEqual({
      ref: 'main',
      request: undefined,
      ended: undefined,
    });
    expect(effectiveRef({ specRef: 'main', annotations: requested('v2'), handled: undefined })).toEqual({
      ref: 'v2',
      request: handled,
      ended: undefined,
    });
  });

  it.each([
    ['spec.git.ref becomes equal', 'v2', requested('v2'), handled],
    ['spec.git.ref becomes equal without a leading v', '2.0', requested('v2.0'), undefined],
    ['spec.git.ref becomes equal with a leading v', 'v2.0', requested('2.0'), undefined],
    ['spec.git.ref changes after the request', 'v3', requested('v2'), handled],
    ['the request is not a valid ref', 'main', requested('--upload-pack=x'), undefined],
    ['the request is empty', 'main', requested(''), undefined],
  ])('ends a request when %s', (_, specRef, annotations, previous) => {
    const result = effectiveRef({ specRef, annotations, handled: previous });
    expect(result).toEqual({ ref: specRef, request: undefined, ended: annotations[CR_ANNOTATIONS.requestedRef] });
  });

  it('continues a request while spec.git.ref is the same', () => {
    expect(effectiveRef({ specRef: 'main', annotations: requested('v2'), handled }).request).toEqual(handled);
  });

  it('begins a new request with spec.git.ref as it is then', () => {
    const later = '2026-01-01T01:00:00Z';
    const { ref, request } = effectiveRef({ specRef: 'v3', annotations: requested('v2', later), handled });
    expect({ ref, request }).toEqual({ ref: 'v2', request: { at: later, ref: 'v2', specRef: 'v3' } });
  });

  it('does not take a name that only begins with v for a version', () => {
    expect(effectiveRef({ specRef: 'alve', annotations: requested('valve'), handled: undefined }).ref).toBe('valve');
  });
});
