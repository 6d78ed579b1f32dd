# The CPU-only build where cmake is missing. Its sources are found, not listed: CMakeLists.txt has the same rule.
{
  'targets': [{
    'target_name': 'skillgate',
    'sources': [ "<!@(node -p \"require('fs').readdirSync('native', { recursive: true }).filter((f) => f.endsWith('.cc') && !f.startsWith('cuda')).map((f) => 'native/' + f).sort().join(' ')\")" ],
    'include_dirs': [ 'native', "<!(node -p \"require('node-addon-api').include_dir\")" ],
    'defines': [
      'NAPI_VERSION=8', 'NODE_ADDON_API_CPP_EXCEPTIONS_ALL', 'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
      'NODE_ADDON_API_DISABLE_DEPRECATED', "SKILLGATE_VERSION=<!(node -p \"require('./package.json').version\")"
    ],
    'cflags!': [ '-fno-exceptions', '-fno-rtti', '-O2', '-O0' ],
    'cflags_cc!': [ '-fno-exceptions', '-fno-rtti', '-std=gnu++14', '-std=gnu++17', '-std=gnu++20' ],
    'cflags_cc': [ '-std=c++20', '-O3', '-fvisibility=hidden', '-ffp-contract=off', '-fno-math-errno', '-pthread' ],
    'ldflags': [ '-pthread' ],
    'conditions': [
      [ 'OS=="linux"', { 'libraries': [ '-ldl' ], 'ldflags': [ '-Wl,-z,nodelete' ] } ],
      [ 'OS=="mac"', { 'xcode_settings': {
        'GCC_ENABLE_CPP_EXCEPTIONS': 'YES', 'GCC_ENABLE_CPP_RTTI': 'YES', 'CLANG_CXX_LANGUAGE_STANDARD': 'c++20',
        'MACOSX_DEPLOYMENT_TARGET': '11.0', 'OTHER_CPLUSPLUSFLAGS': [ '-O3', '-ffp-contract=off', '-fno-math-errno' ] } } ]
    ]
  }]
}
