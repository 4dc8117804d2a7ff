import { describe, expect, it } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import { fieldsToSave, rewriteDevice, SAVED_SPEC } from './older-device.ts';
import { hasStoredStatus } from './stored-status.ts';

const USB = { vendorId: '20a0', productId: '4230' };

/** Objects in an older form are not current HSMDevices. */
function stored(spec: object, metadata: object = {}, others: object = {}): HSMDevice {
  return { metadata: { namespace: 'shop', name: 'pico', ...metadata }, spec, ...others } as unknown as HSMDevice;
}

const saved = (fields: unknown) => ({ annotations: { [SAVED_SPEC]: JSON.stringify(fields) } });

describe('fieldsToSave', () => {
  it.each([
    ['nothing of a current HSMDevice', stored({ deviceType: 'PicoHSM', discovery: { usb: [USB] } }), undefined],
    ['nothing of members that are hidden', stored({ discovery: { usb: {} } }), undefined],
    ['a selection that is one object', stored({ discovery: { usb: USB } }), { usb: [USB] }],
    ['the path of the library', stored({ pkcs11LibraryPath: '/lib.so' }), { libraryPath: '/lib.so' }],
    ['nothing that is saved', stored({ discovery: { usb: USB } }, saved({ usb: [USB] })), undefined],
    ['what changed since', stored({ discovery: { usb: USB } }, saved({ usb: [] })), { usb: [USB] }],
    ['what replaces other content', stored({ discovery: { usb: USB } }, saved('none')), { usb: [USB] }],
  ])('returns %s', (_, device, expected) => {
    const text = fieldsToSave(device);
    expect(text === undefined ? undefined : JSON.parse(text)).toEqual(expected);
  });
});

describe('rewriteDevice', () => {
  it('changes nothing of a current HSMDevice', () => {
    const device = stored({ deviceType: 'PicoHSM', discovery: { usb: [USB] } });
    expect(rewriteDevice(device).changes).toEqual([]);
  });

  it('restores saved fields, and removes the annotation', () => {
    const device = stored(
      {
        deviceType: 'PicoHSM',
        discovery: { autoDiscovery: false, usb: {} },
        pkcs11: { pinSecret: { name: 'a', key: 'b' } },
      },
      saved({ usb: [USB], libraryPath: '/lib.so' }),
    );
    const { device: rewritten, changes, problem } = rewriteDevice(device);
    expect([problem, changes.length, HSMDevice.validate(rewritten)]).toEqual([undefined, 3, []]);
    expect(rewritten).toMatchObject({ spec: { discovery: { usb: [USB] }, pkcs11: { libraryPath: '/lib.so' } } });
    expect(rewritten.metadata?.annotations).toEqual({});
    expect(rewriteDevice(rewritten).changes).toEqual([]);
  });

  it('keeps current values that were set after fields were saved', () => {
    const device = stored(
      { discovery: { usb: [{ vendorId: '1111', productId: '2222' }] }, pkcs11: { libraryPath: '/new.so' } },
      saved({ usb: [USB], libraryPath: '/lib.so' }),
    );
    expect(rewriteDevice(device).device.spec).toEqual(device.spec);
  });

  it.each([
    ['without an annotation', {}],
    ['with an annotation that is no JSON', { annotations: { [SAVED_SPEC]: '{' } }],
    ['with an annotation of another form', saved({ usb: USB })],
  ])('does not guess what is hidden, %s', (_, metadata) => {
    const { problem, changes } = rewriteDevice(stored({ discovery: { usb: {} } }, metadata));
    expect(problem).toContain('spec.discovery.usb');
    expect(changes).toEqual([]);
  });

  it.each([
    ['that is readable', {}, { status: { phase: 'Ready' } }],
    ['that is hidden', { managedFields: [{ manager: 'a', subresource: 'status', fieldsV1: { 'f:status': {} } }] }, {}],
    ['of a client that also wrote the spec', { managedFields: [{ fieldsV1: { 'f:spec': {}, 'f:status': {} } }] }, {}],
  ])('drops a status %s', (_, metadata, others) => {
    const device = stored({ deviceType: 'PicoHSM' }, metadata, others);
    const { device: rewritten, changes } = rewriteDevice(device);
    expect(changes).toEqual(['drop the stored status']);
    expect([hasStoredStatus(device), hasStoredStatus(rewritten)]).toEqual([true, false]);
  });
});
