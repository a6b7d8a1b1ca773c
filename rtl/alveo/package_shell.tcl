# SPDX-License-Identifier: Apache-2.0
# Packages the shell as an RTL kernel: a project of its sources, an IP of the project, a kernel object (.xo) of the IP.
# usage: vivado -mode batch -source package_shell.tcl -tclargs FACTS KERNEL_XML XO
lassign $argv facts kernel_xml xo
source $facts
set folder [file join [file dirname $xo] package]
file delete -force $folder $xo

create_project -force $top [file join $folder project] -part $part
add_files -norecurse $sources
set_property top $top [current_fileset]
update_compile_order -fileset sources_1

set ip [file join $folder ip]
ipx::package_project -root_dir $ip -vendor $vendor -library $library -taxonomy /KernelIP -import_files -set_current true
set core [ipx::current_core]
set_property name $kernel $core
set_property version $version $core

# The packager finds interfaces by the ports' names. One that it missed would be left out of the link without a word.
foreach name $interfaces {
  if {[llength [ipx::get_bus_interfaces $name -of_objects $core]] == 0} {
    error "ERROR: Vivado found no interface $name in $top"
  }
  ipx::associate_bus_interfaces -busif $name -clock ap_clk $core
}
# v++ chooses the clock: a frequency in the IP would tie it.
set clock [ipx::get_bus_interfaces ap_clk -of_objects $core]
ipx::remove_bus_parameter -quiet FREQ_HZ $clock
set reset [ipx::add_bus_parameter -quiet ASSOCIATED_RESET $clock]
set_property value ap_rst_n $reset

# The registers that have a name of their own; the pointer among them stands for what m_axi reads and writes.
ipx::remove_memory_map -quiet $control $core
set map [ipx::add_memory_map $control $core]
set_property slave_memory_map_ref $control [ipx::get_bus_interfaces $control -of_objects $core]
set block [ipx::add_address_block reg0 $map]
set_property range $register_bytes $block
foreach entry $registers {
  lassign $entry name offset bits
  set register [ipx::add_register $name $block]
  set_property address_offset $offset $register
  set_property size $bits $register
  if {$name eq $pointer} {
    set_property value $memory [ipx::add_register_parameter ASSOCIATED_BUSIF $register]
  }
}

set_property sdx_kernel true $core
set_property sdx_kernel_type rtl $core
set_property ipi_drc {ignore_freq_hz true} $core
set_property vitis_drc {ctrl_protocol user_managed} $core
ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::check_integrity -kernel $core
ipx::save_core $core
package_xo -force -xo_path $xo -kernel_name $kernel -ip_directory $ip -kernel_xml $kernel_xml
close_project -delete
