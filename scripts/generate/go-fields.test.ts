import { describe, expect, it } from 'vitest';
import { emitFields } from './emit-fields.ts';
import { parseStructs } from './go-fields.ts';
import { createModel } from './model.ts';

const SOURCE = `
// Probe is described here.
type Probe struct {
	metav1.TypeMeta \`json:",inline"\`
	// The action taken.
	ProbeHandler \`json:",inline" protobuf:"bytes,1,opt,name=handler"\`
	// +optional
	Period int32 \`json:"period,omitempty" protobuf:"varint,4,opt,name=period"\`
	Grace *int64 \`json:"grace,omitempty" protobuf:"varint,3,opt,name=grace"\`
	At *metav1.MicroTime \`json:"at,omitempty" protobuf:"bytes,5,opt,name=at"\`
}

type ProbeHandler struct {
	Path string \`json:"path" protobuf:"bytes,1,opt,name=path"\`
}

type Plain string
`;

describe('parseStructs', () => {
  it('reads numbers, names and types from the tags of fields, and omits fields that are not in protobuf', () => {
    expect(parseStructs(SOURCE)).toEqual(
      new Map([
        [
          'Probe',
          [
            { number: 1, name: '', type: 'ProbeHandler', isOmitted: false },
            { number: 4, name: 'period', type: 'int32', isOmitted: true },
            { number: 3, name: 'grace', type: '*int64', isOmitted: true },
            { number: 5, name: 'at', type: '*metav1.MicroTime', isOmitted: true },
          ],
        ],
        ['ProbeHandler', [{ number: 1, name: 'path', type: 'string', isOmitted: false }]],
      ]),
    );
  });
});

describe('emitFields', () => {
  const properties = {
    path: { type: 'string' as const },
    period: { type: 'integer' as const },
    grace: { type: 'integer' as const },
    at: { type: 'string' as const, format: 'date-time' },
  };
  const emit = (extra: object = {}): string => {
    const schemas = { 'io.k8s.api.core.v1.Probe': { properties: { ...properties, ...extra } } };
    const model = createModel({
      version: 'v1.0.0',
      documents: new Map([['core-v1', { info: '', schemas, paths: {} }]]),
    });
    return emitFields(model, new Map([['core-v1', parseStructs(SOURCE)]]));
  };

  it('writes a line per message: gaps by number, inlined messages, and fields that are sent when zero', () => {
    expect(emit()).toContain("'core-v1': `\nProbe >ProbeHandler 3:grace! period at~\nProbeHandler path!\n`,\n");
  });

  it('rejects a field of a schema that has no number', () => {
    expect(() => emit({ more: { type: 'string' } })).toThrow('core-v1.Probe has no number in protobuf for more');
  });
});
