# What `cmake --install` puts where; the Debian packages take it from there. The programs find one
# another by these places: core/daemon/installation.h.
include(GNUInstallDirs)

install(TARGETS hostler hostlerd hostler-hosts RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS hostler-agent hostler-driver-host driver-check RUNTIME DESTINATION lib/hostler)

# A driver with its manifest, which names the library's digest: who strips it must make it again.
foreach(driver ec2 local lxd)
  install(TARGETS hostler_driver_${driver} LIBRARY DESTINATION lib/hostler/drivers)
  install(FILES ${PROJECT_BINARY_DIR}/lib/hostler/drivers/${driver}.hostler.json
    DESTINATION lib/hostler/drivers)
endforeach()
install(TARGETS hostler-local-supervisor RUNTIME DESTINATION lib/hostler/drivers)

# What `hostler driver new` copies.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/templates DESTINATION ${CMAKE_INSTALL_DATADIR}/hostler-sdk)
install(FILES ${PROJECT_SOURCE_DIR}/sdk/driver.map DESTINATION ${CMAKE_INSTALL_DATADIR}/hostler-sdk)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/include/hostler
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
