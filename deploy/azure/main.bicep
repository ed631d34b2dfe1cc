// The platform on Azure: a registry, three web apps, PostgreSQL, Service Bus, a storage account,
// identities and their rights.
//   az deployment group create --resource-group GROUP --template-file deploy/azure/main.bicep \
//     --parameters prefix=mycity tag=v0.13.0 adminPrincipalId=… adminPrincipalName=…
targetScope = 'resourceGroup'

@description('Begins the name of every resource: 3 to 11 lower-case letters and digits.')
@minLength(3)
@maxLength(11)
param prefix string

@description('Tag of the images in the registry.')
param tag string

@description('Object id of the Entra user or group that administers PostgreSQL.')
param adminPrincipalId string

@description('Name of that user or group.')
param adminPrincipalName string

@description('User, Group or ServicePrincipal.')
param adminPrincipalType string = 'User'

@secure()
@description('At least 32 characters; callbacks to partners are signed with secrets that derive from it.')
@minLength(32)
param callbackSigningKey string

@description('name:access+access:sha256 of each token for the orchestrator, separated by commas.')
@secure()
param serviceTokens string

@secure()
@description('The token of the gateway, whose hash is among serviceTokens.')
param gatewayToken string

param location string = resourceGroup().location

var roles = {
  acrPull: '7f951dda-4ed3-4680-a7ca-43fe172d538d'
  serviceBusSender: '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39'
  serviceBusReceiver: '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'
  blobContributor: 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
}
var queues = ['dag-jobs', 'functionapp-tasks', 'container-tasks', 'dag-worker-tasks']

resource registry 'Microsoft.ContainerRegistry/registries@2023-07-01' = {
  name: '${prefix}acr'
  location: location
  sku: { name: 'Standard' }
  properties: { adminUserEnabled: false }
}

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31' = {
  name: '${prefix}-orchestrator'
  location: location
}

resource workerIdentity 'Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31' = {
  name: '${prefix}-worker'
  location: location
}

resource gatewayIdentity 'Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31' = {
  name: '${prefix}-gateway'
  location: location
}

resource postgres 'Microsoft.DBforPostgreSQL/flexibleServers@2024-08-01' = {
  name: '${prefix}-postgres'
  location: location
  sku: { name: 'Standard_D2ds_v5', tier: 'GeneralPurpose' }
  properties: {
    version: '16'
    storage: { storageSizeGB: 128, autoGrow: 'Enabled' }
    backup: { backupRetentionDays: 14, geoRedundantBackup: 'Disabled' }
    highAvailability: { mode: 'ZoneRedundant' }
    authConfig: { activeDirectoryAuth: 'Enabled', passwordAuth: 'Disabled', tenantId: subscription().tenantId }
  }

  resource administrator 'administrators' = {
    name: adminPrincipalId
    properties: {
      principalName: adminPrincipalName
      principalType: adminPrincipalType
      tenantId: subscription().tenantId
    }
  }

  resource extensions 'configurations' = {
    name: 'azure.extensions'
    properties: { value: 'POSTGIS', source: 'user-override' }
    dependsOn: [administrator]
  }

  resource platform 'databases' = {
    name: 'rmhdag'
    dependsOn: [extensions]
  }
}

resource bus 'Microsoft.ServiceBus/namespaces@2024-01-01' = {
  name: '${prefix}-bus'
  location: location
  sku: { name: 'Standard' }
  properties: { disableLocalAuth: true, minimumTlsVersion: '1.2' }

  resource queue 'queues' = [
    for name in queues: {
      name: name
      properties: {
        lockDuration: 'PT1M'
        maxDeliveryCount: 2000
        requiresDuplicateDetection: true
        duplicateDetectionHistoryTimeWindow: 'PT10M'
      }
    }
  ]
}

resource storage 'Microsoft.Storage/storageAccounts@2023-05-01' = {
  name: '${prefix}storage'
  location: location
  sku: { name: 'Standard_ZRS' }
  kind: 'StorageV2'
  properties: { allowBlobPublicAccess: false, allowSharedKeyAccess: false, minimumTlsVersion: 'TLS1_2' }
}

// Files as they were submitted, apart from what is made of them.
resource bronze 'Microsoft.Storage/storageAccounts@2023-05-01' = {
  name: '${prefix}bronze'
  location: location
  sku: { name: 'Standard_ZRS' }
  kind: 'StorageV2'
  properties: { allowBlobPublicAccess: false, allowSharedKeyAccess: false, minimumTlsVersion: 'TLS1_2' }
}

resource plan 'Microsoft.Web/serverfarms@2023-12-01' = {
  name: '${prefix}-plan'
  location: location
  kind: 'linux'
  sku: { name: 'P1v3', capacity: 2 }
  properties: { reserved: true }
}

resource workerPlan 'Microsoft.Web/serverfarms@2023-12-01' = {
  name: '${prefix}-worker-plan'
  location: location
  kind: 'linux'
  sku: { name: 'P2v3', capacity: 1 }
  properties: { reserved: true }
}

module orchestrator 'web-app.bicep' = {
  name: 'orchestrator'
  params: {
    name: '${prefix}-orchestrator'
    location: location
    planId: plan.id
    identityId: identity.id
    identityClientId: identity.properties.clientId
    image: '${registry.properties.loginServer}/rmhdagmaster:${tag}'
    port: 8000
    settings: {
      RUN_MODE: 'orchestrator'
      POSTGRES_USER: identity.name
      SERVICE_BUS_FQDN: '${bus.name}.servicebus.windows.net'
      AZURE_STORAGE_ACCOUNT: storage.name
      BRONZE_AZURE_STORAGE_ACCOUNT: bronze.name
      STORAGE_BACKEND: 'azure'
      DAG_SERVICE_TOKENS: serviceTokens
      CALLBACK_SIGNING_KEY: callbackSigningKey
      POSTGRES_HOST: postgres.properties.fullyQualifiedDomainName
      POSTGRES_DB: 'rmhdag'
    }
  }
}

module worker 'web-app.bicep' = {
  name: 'worker'
  params: {
    name: '${prefix}-worker'
    location: location
    planId: workerPlan.id
    identityId: workerIdentity.id
    identityClientId: workerIdentity.properties.clientId
    image: '${registry.properties.loginServer}/rmhdagworker:${tag}'
    port: 8080
    settings: {
      RUN_MODE: 'worker'
      WORKER_TYPE: 'docker'
      WORKER_QUEUE: 'container-tasks'
      POSTGRES_USER: workerIdentity.name
      SERVICE_BUS_FQDN: '${bus.name}.servicebus.windows.net'
      AZURE_STORAGE_ACCOUNT: storage.name
      BRONZE_AZURE_STORAGE_ACCOUNT: bronze.name
      STORAGE_BACKEND: 'azure'
      POSTGRES_HOST: postgres.properties.fullyQualifiedDomainName
      POSTGRES_DB: 'rmhdag'
    }
  }
}

module gateway 'web-app.bicep' = {
  name: 'gateway'
  params: {
    name: '${prefix}-gateway'
    location: location
    planId: plan.id
    identityId: gatewayIdentity.id
    identityClientId: gatewayIdentity.properties.clientId
    image: '${registry.properties.loginServer}/rmhdaggateway:${tag}'
    port: 7071
    settings: {
      RUN_MODE: 'gateway'
      POSTGRES_USER: gatewayIdentity.name
      ORCHESTRATOR_URL: 'https://${orchestrator.outputs.host}'
      DAG_SERVICE_TOKEN: gatewayToken
      POSTGRES_HOST: postgres.properties.fullyQualifiedDomainName
      POSTGRES_DB: 'rmhdag'
    }
  }
}

resource pulls 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (each, index) in ['orchestrator', 'worker', 'gateway']: {
    name: guid(registry.id, each, roles.acrPull)
    scope: registry
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.acrPull)
      principalId: [
        identity.properties.principalId
        workerIdentity.properties.principalId
        gatewayIdentity.properties.principalId
      ][index]
      principalType: 'ServicePrincipal'
    }
  }
]

resource sends 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(bus.id, identity.id, roles.serviceBusSender)
  scope: bus
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.serviceBusSender)
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
  }
}

resource receives 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (each, index) in ['orchestrator', 'worker']: {
    name: guid(bus.id, each, roles.serviceBusReceiver)
    scope: bus
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.serviceBusReceiver)
      principalId: [identity.properties.principalId, workerIdentity.properties.principalId][index]
      principalType: 'ServicePrincipal'
    }
  }
]

resource writes 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (each, index) in ['orchestrator', 'worker']: {
    name: guid(storage.id, each, roles.blobContributor)
    scope: storage
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.blobContributor)
      principalId: [identity.properties.principalId, workerIdentity.properties.principalId][index]
      principalType: 'ServicePrincipal'
    }
  }
]

resource writesBronze 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (each, index) in ['orchestrator', 'worker']: {
    name: guid(bronze.id, each, roles.blobContributor)
    scope: bronze
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.blobContributor)
      principalId: [identity.properties.principalId, workerIdentity.properties.principalId][index]
      principalType: 'ServicePrincipal'
    }
  }
]

output orchestratorHost string = orchestrator.outputs.host
output gatewayHost string = gateway.outputs.host
output registryServer string = registry.properties.loginServer
