import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { startTestServer } from '../in-process.test-support.ts';
import type { AuditEvent } from './audit-event.ts';
import { AuditTrail } from './audit-trail.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

describe('AuditTrail', () => {
  it('drops events that cannot be written, reports the failure once, and never fails a request', async () => {
    const kept: string[] = [];
    const reported: unknown[] = [];
    let full: Error | undefined;
    const write = ({ verb, stage }: AuditEvent): void => {
      if (full) throw full;
      kept.push(`${verb} ${stage}`);
    };
    const audit = new AuditTrail({ clock: new VirtualClock(), write, onError: (error) => reported.push(error) });
    const { call, stream } = startTestServer({ audit });
    full = new Error('no space left');
    expect(await call('POST', MAPS, { metadata: { name: 'a' } })).toMatchObject({ status: 201 });
    expect(await call('GET', `${MAPS}/none`)).toMatchObject({ status: 404, body: { reason: 'NotFound' } });
    const watch = await stream(`${MAPS}?watch=true&resourceVersion=1`);
    expect(await watch.next()).toMatchObject({ value: { type: 'ADDED' } });
    await watch.return(undefined);
    expect([reported, kept]).toEqual([[full], []]);

    full = undefined;
    expect(await call('GET', `${MAPS}/a`)).toMatchObject({ status: 200 });
    expect(kept).toEqual(['get ResponseComplete']);
    full = new Error('again');
    await call('GET', `${MAPS}/a`);
    expect(reported).toHaveLength(2);
  });
});
