// A web app that runs one image with one identity.
param name string
param location string
param planId string
param identityId string
param identityClientId string
param image string
param port int
@secure()
param settings object

var common = {
  WEBSITES_PORT: string(port)
  LOG_LEVEL: 'INFO'
  LOG_FORMAT: 'json'
  USE_MANAGED_IDENTITY: 'true'
  DB_ADMIN_MANAGED_IDENTITY_CLIENT_ID: identityClientId
  AZURE_CLIENT_ID: identityClientId
}

resource app 'Microsoft.Web/sites@2023-12-01' = {
  name: name
  location: location
  kind: 'app,linux,container'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identityId}': {} }
  }
  properties: {
    serverFarmId: planId
    httpsOnly: true
    siteConfig: {
      linuxFxVersion: 'DOCKER|${image}'
      acrUseManagedIdentityCreds: true
      acrUserManagedIdentityID: identityClientId
      alwaysOn: true
      healthCheckPath: '/livez'
      minTlsVersion: '1.2'
      ftpsState: 'Disabled'
    }
  }

  resource appSettings 'config' = {
    name: 'appsettings'
    properties: union(common, settings)
  }
}

output host string = app.properties.defaultHostName
