import { describe, expect, it } from 'vitest';
import { judgeMixture, judgeState } from './judge.ts';

const files = (entries: Readonly<Record<string, string>>): Map<string, Buffer> =>
  new Map(Object.entries(entries).map(([path, content]) => [path, Buffer.from(content)]));

const old = new Map([...files({ same: '1', changed: '1', deleted: '1' })].map(([path, bytes]) => [path, [bytes]]));
const states = { old, next: files({ same: '1', changed: '2', added: '2' }) };

describe('the judge of a killed sync', () => {
  it('accepts every mixture of old and new paths at a kill', () => {
    expect(judgeMixture(files({ same: '1', changed: '2', deleted: '1' }), states)).toEqual([]);
    expect(judgeMixture(files({ same: '1', changed: '1', added: '2' }), states)).toEqual([]);
  });

  it.each([
    ['a path with other content', { same: '1', changed: '3' }, ['changed is neither old nor new']],
    ['a half written path', { same: '1', changed: '' }, ['changed is neither old nor new']],
    ['a path that is missing', { changed: '2' }, ['same is neither old nor new']],
    ['a path that appears', { same: '1', changed: '2', '.tmp': '' }, ['.tmp is neither old nor new']],
  ])('reports %s', (_, live, violations) => {
    expect(judgeMixture(files(live), states)).toEqual(violations);
  });

  it('reports a mixture after a recovery', () => {
    const mixture = files({ same: '1', changed: '2', deleted: '1' });
    expect(judgeState(mixture, states, 'old')).toEqual(['changed is not old']);
    expect(judgeState(mixture, states, 'new')).toEqual(['deleted is not new', 'added is not new']);
    expect(judgeState(files({ same: '1', changed: '2', added: '2' }), states, 'new')).toEqual([]);
  });
});
