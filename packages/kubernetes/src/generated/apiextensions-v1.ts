// Generated from openapi/apiextensions-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface CustomResourceColumnDefinition {
  readonly description?: string | undefined;
  readonly format?: string | undefined;
  readonly jsonPath: string;
  readonly name: string;
  readonly priority?: number | undefined;
  readonly type: string;
}

export interface CustomResourceConversion {
  readonly strategy: string;
  readonly webhook?: WebhookConversion | undefined;
}

export interface CustomResourceDefinition {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec: CustomResourceDefinitionSpec;
  readonly status?: CustomResourceDefinitionStatus | undefined;
}

export const CustomResourceDefinition: Resource<CustomResourceDefinition, 'CustomResourceDefinition.v1.apiextensions.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition', plural: 'customresourcedefinitions', scope: 'Cluster' });

export interface CustomResourceDefinitionCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface CustomResourceDefinitionList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly CustomResourceDefinition[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface CustomResourceDefinitionNames {
  readonly categories?: readonly string[] | undefined;
  readonly kind: string;
  readonly listKind?: string | undefined;
  readonly plural: string;
  readonly shortNames?: readonly string[] | undefined;
  readonly singular?: string | undefined;
}

export interface CustomResourceDefinitionSpec {
  readonly conversion?: CustomResourceConversion | undefined;
  readonly group: string;
  readonly names: CustomResourceDefinitionNames;
  readonly preserveUnknownFields?: boolean | undefined;
  readonly scope: string;
  readonly versions: readonly CustomResourceDefinitionVersion[];
}

export interface CustomResourceDefinitionStatus {
  readonly acceptedNames?: CustomResourceDefinitionNames | undefined;
  readonly conditions?: readonly CustomResourceDefinitionCondition[] | undefined;
  readonly observedGeneration?: number | undefined;
  readonly storedVersions?: readonly string[] | undefined;
}

export interface CustomResourceDefinitionVersion {
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinition[] | undefined;
  readonly deprecated?: boolean | undefined;
  readonly deprecationWarning?: string | undefined;
  readonly name: string;
  readonly schema?: CustomResourceValidation | undefined;
  readonly selectableFields?: readonly SelectableField[] | undefined;
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources?: CustomResourceSubresources | undefined;
}

export interface CustomResourceSubresourceScale {
  readonly labelSelectorPath?: string | undefined;
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
}

export interface CustomResourceSubresources {
  readonly scale?: CustomResourceSubresourceScale | undefined;
  readonly status?: unknown;
}

export interface CustomResourceValidation {
  readonly openAPIV3Schema?: JSONSchemaProps | undefined;
}

export interface ExternalDocumentation {
  readonly description?: string | undefined;
  readonly url?: string | undefined;
}

export interface JSONSchemaProps {
  readonly $ref?: string | undefined;
  readonly $schema?: string | undefined;
  readonly additionalItems?: JSONSchemaProps | boolean | undefined;
  readonly additionalProperties?: JSONSchemaProps | boolean | undefined;
  readonly allOf?: readonly JSONSchemaProps[] | undefined;
  readonly anyOf?: readonly JSONSchemaProps[] | undefined;
  readonly default?: unknown;
  readonly definitions?: { readonly [key: string]: JSONSchemaProps } | undefined;
  readonly dependencies?: { readonly [key: string]: JSONSchemaProps | readonly string[] } | undefined;
  readonly description?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly example?: unknown;
  readonly exclusiveMaximum?: boolean | undefined;
  readonly exclusiveMinimum?: boolean | undefined;
  readonly externalDocs?: ExternalDocumentation | undefined;
  readonly format?: string | undefined;
  readonly id?: string | undefined;
  readonly items?: JSONSchemaProps | readonly JSONSchemaProps[] | undefined;
  readonly maxItems?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly maxProperties?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minItems?: number | undefined;
  readonly minLength?: number | undefined;
  readonly minProperties?: number | undefined;
  readonly minimum?: number | undefined;
  readonly multipleOf?: number | undefined;
  readonly not?: JSONSchemaProps | undefined;
  readonly nullable?: boolean | undefined;
  readonly oneOf?: readonly JSONSchemaProps[] | undefined;
  readonly pattern?: string | undefined;
  readonly patternProperties?: { readonly [key: string]: JSONSchemaProps } | undefined;
  readonly properties?: { readonly [key: string]: JSONSchemaProps } | undefined;
  readonly required?: readonly string[] | undefined;
  readonly title?: string | undefined;
  readonly type?: string | undefined;
  readonly uniqueItems?: boolean | undefined;
  readonly 'x-kubernetes-embedded-resource'?: boolean | undefined;
  readonly 'x-kubernetes-int-or-string'?: boolean | undefined;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[] | undefined;
  readonly 'x-kubernetes-list-type'?: string | undefined;
  readonly 'x-kubernetes-map-type'?: string | undefined;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean | undefined;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[] | undefined;
}

export interface SelectableField {
  readonly jsonPath: string;
}

export interface ServiceReference {
  readonly name: string;
  readonly namespace: string;
  readonly path?: string | undefined;
  readonly port?: number | undefined;
}

export interface ValidationRule {
  readonly fieldPath?: string | undefined;
  readonly message?: string | undefined;
  readonly messageExpression?: string | undefined;
  readonly optionalOldSelf?: boolean | undefined;
  readonly reason?: 'FieldValueDuplicate' | 'FieldValueForbidden' | 'FieldValueInvalid' | 'FieldValueRequired' | undefined;
  readonly rule: string;
}

export interface WebhookClientConfig {
  readonly caBundle?: string | undefined;
  readonly service?: ServiceReference | undefined;
  readonly url?: string | undefined;
}

export interface WebhookConversion {
  readonly clientConfig?: WebhookClientConfig | undefined;
  readonly conversionReviewVersions: readonly string[];
}
